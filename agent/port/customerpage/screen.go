package customerpage

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"sync"
	"time"

	"posagent/device/display"
	"posagent/device/display/scene"
	"posagent/device/keypad/entry"
)

// watchedFor is how long a browser that loaded the page without a stream is taken for one that still
// shows it. Without a script it loads the page again within a fifth of that.
const watchedFor = 30 * time.Second

// Options make a Screen.
type Options struct {
	// Tap takes a key that was pressed on a scene: of a sale, at a turn of its dialogue. It may take
	// as long as a picture on the other screens. Nil = the page has no keys.
	Tap func(sale string, turn uint64, k entry.Key)
	Now func() time.Time // nil = time.Now
}

// Screen shows views as a page. Its methods are safe for concurrent use.
type Screen struct {
	o Options

	mu      sync.Mutex
	view    display.View
	code    bool   // the view has its code still
	form    string // the word that a form of this page must have; it changes with the page
	changed chan struct{}
	ended   bool
	streams int       // that are open
	seen    time.Time // when the page was loaded last
}

var (
	_ display.Screen    = (*Screen)(nil)
	_ display.Refresher = (*Screen)(nil)
	_ display.Ender     = (*Screen)(nil)
)

// New makes a Screen; it shows an empty page.
func New(o Options) *Screen {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Screen{o: o, form: rand.Text(), changed: make(chan struct{})}
}

// Show implements display.Screen. It does not fail.
func (s *Screen) Show(v display.View) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.view = v
		s.turn()
	}
	return nil
}

// Refresh implements display.Refresher: it takes a code off that is no longer valid.
func (s *Screen) Refresh() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code && !s.hasCode() {
		s.turn()
	}
	return nil
}

// End implements display.Ender.
func (s *Screen) End() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view, s.ended = away(s.view), true
	s.turn()
	return nil
}

// away is what is shown in place of a view where the terminal does not answer.
func away(v display.View) display.View {
	return display.View{Kind: scene.NotReady, Sandbox: v.Sandbox, Language: v.Language}
}

// turn makes another page of the view: forms of the one before are over. The caller holds mu.
func (s *Screen) turn() {
	s.form, s.code = rand.Text(), s.hasCode()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Screen) hasCode() bool { return s.view.At(s.o.Now()).Code != nil }

// page is the page of now; changed is closed when there is another one.
func (s *Screen) page() (p page, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p = page{now: s.o.Now(), form: s.form}
	p.view = s.view.At(p.now)
	if s.o.Tap != nil {
		p.keys = keysOf(p.view)
	}
	return p, s.changed
}

// next waits for a page with another word than last.
func (s *Screen) next(ctx context.Context, last string) (page, error) {
	for {
		p, changed := s.page()
		if p.form != last {
			return p, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return page{}, ctx.Err()
		}
	}
}

// Watched says whether a browser shows the page, as far as that can be known.
func (s *Screen) Watched() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams > 0 || !s.seen.IsZero() && time.Since(s.seen) < watchedFor
}

// looked notes that the page was loaded.
func (s *Screen) looked() {
	s.mu.Lock()
	s.seen = time.Now()
	s.mu.Unlock()
}

// watching counts a stream that begins (1) or ends (-1).
func (s *Screen) watching(n int) {
	s.mu.Lock()
	s.streams += n
	s.mu.Unlock()
}

// tap takes a key of a form with a word. It does nothing where the word is not that of the page that
// is shown now, or the page does not have the key.
func (s *Screen) tap(form string, k entry.Key) {
	s.mu.Lock()
	v := s.view.At(s.o.Now())
	good := s.o.Tap != nil && !s.ended && subtle.ConstantTimeCompare([]byte(form), []byte(s.form)) == 1 && shows(v, k)
	if good {
		s.turn() // before the key does anything: the same form again is over
	}
	s.mu.Unlock()
	if good {
		s.o.Tap(v.Of.Sale, v.Of.Turn, k)
	}
}

// shows says whether a scene has a key.
func shows(v display.View, k entry.Key) bool {
	for _, one := range keysOf(v) {
		if one == k {
			return true
		}
	}
	return false
}

// keysOf are the keys of a scene, in the order in which they stand.
func keysOf(v display.View) (keys []entry.Key) {
	if v.Of.Sale == "" {
		return nil
	}
	switch v.Kind {
	case scene.Choice:
		for i, o := range v.Options {
			if o != "" {
				keys = append(keys, entry.Digit(i+1))
			}
		}
		if v.Of.Pages > 1 {
			keys = append(keys, entry.Up, entry.Down)
		}
	case scene.Prompt:
		for n := 1; n <= 9; n++ {
			keys = append(keys, entry.Digit(n))
		}
		return append(keys, entry.Correct, entry.Digit(0), entry.Cancel, entry.Confirm)
	case scene.Message, scene.Code, scene.Waiting, scene.Moment:
		if v.Kind == scene.Message && v.Of.Answer {
			return []entry.Key{entry.Cancel, entry.Correct, entry.Confirm}
		}
	default:
		return nil
	}
	return append(keys, entry.Cancel)
}
