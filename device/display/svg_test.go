package display_test

import (
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/device/display/glyph"
	"posagent/device/display/layout"
	"posagent/device/display/paint"
)

// node is one element of an SVG.
type node struct {
	XMLName   xml.Name
	X         float64 `xml:"x,attr"`
	Y         float64 `xml:"y,attr"`
	Width     float64 `xml:"width,attr"`
	Height    float64 `xml:"height,attr"`
	Fill      string  `xml:"fill,attr"`
	D         string  `xml:"d,attr"`
	Transform string  `xml:"transform,attr"`
	Children  []node  `xml:",any"`
}

// viewer draws an SVG as a browser does, with four by four points to a dot. It knows what paint.SVG uses: rect, path and svg.
type viewer struct {
	w, h int
	dots [][3]float64
}

// line is one straight piece of a path.
type line struct{ x0, y0, x1, y1 float64 }

func view(t *testing.T, svg []byte) *viewer {
	t.Helper()
	var root node
	require.NoError(t, xml.Unmarshal(svg, &root))
	v := &viewer{w: int(root.Width), h: int(root.Height)}
	v.dots = make([][3]float64, v.w*v.h)
	v.draw(t, root, 0, 0, root.Width, root.Height)
	return v
}

func (v *viewer) draw(t *testing.T, n node, x, y, w, h float64) {
	t.Helper()
	for _, c := range n.Children {
		switch c.XMLName.Local {
		case "svg":
			v.draw(t, c, x+c.X, y+c.Y, c.Width, c.Height)
		case "rect":
			v.fill(t, []line{{c.X, c.Y, c.X, c.Y + c.Height}, {c.X + c.Width, c.Y + c.Height, c.X + c.Width, c.Y}}, c.Fill, 0, 0, float64(v.w), float64(v.h))
		case "path":
			dx, dy, scale := x, y, 1.0
			if c.Transform != "" {
				_, err := fmt.Sscanf(c.Transform, "translate(%f %f) scale(%f)", &dx, &dy, &scale)
				require.NoError(t, err)
			}
			lines := path(t, c.D)
			for i := range lines {
				l := &lines[i]
				*l = line{l.x0*scale + dx, l.y0*scale + dy, l.x1*scale + dx, l.y1*scale + dy}
			}
			v.fill(t, lines, c.Fill, x, y, x+w, y+h)
		default:
			t.Fatalf("the viewer does not know %s", c.XMLName.Local)
		}
	}
}

// path reads M L Q h v z; every curve is sixteen lines.
func path(t *testing.T, d string) (lines []line) {
	t.Helper()
	var x, y, fromX, fromY float64
	to := func(nx, ny float64) {
		lines = append(lines, line{x, y, nx, ny})
		x, y = nx, ny
	}
	for d != "" {
		op := d[0]
		end := strings.IndexAny(d[1:], "MLQhvz")
		if end < 0 {
			end = len(d) - 1
		}
		var n []float64
		for s := range strings.FieldsSeq(d[1 : 1+end]) {
			f, err := strconv.ParseFloat(s, 64)
			require.NoError(t, err)
			n = append(n, f)
		}
		d = d[1+end:]
		switch op {
		case 'M':
			x, y, fromX, fromY = n[0], n[1], n[0], n[1]
		case 'L':
			to(n[0], n[1])
		case 'h':
			to(x+n[0], y)
		case 'v':
			to(x, y+n[0])
		case 'z':
			to(fromX, fromY)
		case 'Q':
			x0, y0 := x, y
			for i := 1.0; i <= 16; i++ {
				p := i / 16
				q := 1 - p
				to(q*q*x0+2*q*p*n[0]+p*p*n[2], q*q*y0+2*q*p*n[1]+p*p*n[3])
			}
		}
	}
	return lines
}

// fill draws what lines go around (nonzero), within a box.
func (v *viewer) fill(t *testing.T, lines []line, fill string, left, top, right, bottom float64) {
	t.Helper()
	var c [3]float64
	n, err := strconv.ParseUint(strings.TrimPrefix(fill, "#"), 16, 32)
	require.NoError(t, err)
	for i := range c {
		c[i] = float64(n >> (16 - 8*i) & 255)
	}
	const points = 4
	covered := map[int]int{}
	for sy := int(top * points); sy < int(bottom*points); sy++ {
		y := (float64(sy) + 0.5) / points
		turns := map[int]int{}
		lo, hi := math.MaxInt, math.MinInt
		for _, l := range lines {
			if (l.y0 <= y) == (l.y1 <= y) {
				continue
			}
			at := int(math.Ceil((l.x0+(y-l.y0)*(l.x1-l.x0)/(l.y1-l.y0))*points - 0.5))
			at = min(max(at, int(left*points)), int(right*points))
			lo, hi = min(lo, at), max(hi, at)
			if l.y1 > l.y0 {
				turns[at]++
			} else {
				turns[at]--
			}
		}
		winding := 0
		for sx := lo; sx < hi; sx++ {
			if winding += turns[sx]; winding != 0 {
				covered[int(y)*v.w+sx/points]++
			}
		}
	}
	for at, n := range covered {
		a := float64(n) / (points * points)
		for i := range c {
			v.dots[at][i] += (c[i] - v.dots[at][i]) * a
		}
	}
}

// TestTheSVGLooksLikeThePNG: a viewer of its own draws the SVG of each scene, and the dots are those that are painted, but for the
// fineness of the edges.
func TestTheSVGLooksLikeThePNG(t *testing.T) {
	letters := glyph.NewSet()
	painter := paint.New(letters)
	for _, s := range samples(t, "fr") {
		page, err := layout.Place(letters, s.view, noon, layout.Geometry{W: 240, H: 320}, false)
		require.NoError(t, err)
		v, pic := view(t, paint.SVG(letters, page)), painter.Paint(page)
		require.Equal(t, pic.Rect, image.Rect(0, 0, v.w, v.h))
		far := 0
		for y := range v.h {
			for x := range v.w {
				a, b := pic.RGBAAt(x, y), v.dots[y*v.w+x]
				for i, c := range []uint8{a.R, a.G, a.B} {
					if math.Abs(float64(c)-b[i]) > 48 {
						far++
						break
					}
				}
			}
		}
		require.Less(t, far, v.w*v.h/400, s.name)
		require.NotEqual(t, color.RGBA{}, pic.RGBAAt(0, 0))
	}
}
