package outline_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/device/display/glyph/outline"
)

func letters() []outline.Letter {
	return []outline.Letter{
		{Rune: 0, Advance: 500, Segments: []outline.Segment{{Op: outline.Move, P: [2][2]int{{10, -20}}}, {Op: outline.Line, P: [2][2]int{{300, 40}}}}},
		{Rune: ' ', Advance: 250},
		{Rune: 'é', Advance: 2048, Segments: []outline.Segment{
			{Op: outline.Move, P: [2][2]int{{-700, 1500}}}, {Op: outline.Quad, P: [2][2]int{{0, 0}, {2047, -2048}}}, {Op: outline.Line, P: [2][2]int{{1, 1}}},
		}},
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	f, err := outline.Parse(outline.Write(2048, letters()))
	require.NoError(t, err)
	require.Equal(t, 2048, f.Em)
	for _, l := range letters() {
		require.Equal(t, l.Advance, f.Advance(l.Rune))
		require.Equal(t, l.Segments, f.Outline(nil, l.Rune), "%q", l.Rune)
	}
	require.True(t, f.Has('é'))
	require.False(t, f.Has('e'))
	require.False(t, f.Has(0), "it stands for the others")
	require.Equal(t, letters()[0].Segments, f.Outline(nil, 'e'))
	require.Equal(t, 500, f.Advance('e'))
	before := []outline.Segment{{Op: outline.Line}}
	require.Len(t, f.Outline(before, 'é'), 4, "it is appended")
}

func TestBrokenFaces(t *testing.T) {
	whole := outline.Write(2048, letters())
	for n := range whole {
		_, err := outline.Parse(whole[:n])
		require.ErrorIs(t, err, outline.ErrBroken, "cut after %d bytes", n)
	}
	_, err := outline.Parse(append(whole, 0))
	require.ErrorIs(t, err, outline.ErrBroken)
	twice := letters()
	twice[2].Rune = ' '
	_, err = outline.Parse(outline.Write(2048, twice))
	require.ErrorIs(t, err, outline.ErrBroken, "one letter twice")
	_, err = outline.Parse(outline.Write(2048, letters()[1:]))
	require.ErrorIs(t, err, outline.ErrBroken, "nothing stands for what is missing")
}

// FuzzParse: whatever the bytes are, they are a face whose letters can be drawn, or an error.
func FuzzParse(f *testing.F) {
	f.Add(outline.Write(2048, letters()))
	f.Fuzz(func(t *testing.T, data []byte) {
		face, err := outline.Parse(data)
		if err != nil {
			require.ErrorIs(t, err, outline.ErrBroken)
			return
		}
		for _, r := range "\x00 é" {
			_ = face.Outline(nil, r)
			require.GreaterOrEqual(t, face.Advance(r), 0)
		}
	})
}
