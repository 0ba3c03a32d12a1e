package customerpage

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"posagent/agent/httpd"
	"posagent/device/keypad/entry"
	"posagent/schemes/wire"
)

// Where the page is, and the stream of its scenes.
const (
	Path       = "/display"
	EventsPath = Path + "/events"
)

// maxForm bounds the body of a tap.
const maxForm = 1 << 10

// The pace of a stream.
const (
	heartbeat   = 15 * time.Second // between two signs of life
	writeWithin = 10 * time.Second
)

// ServeHTTP answers GET with the page of now, and takes the page's form. A form that is over changes
// nothing: either way the browser is led to the page of now.
func (s *Screen) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet:
		s.looked()
		p, _ := s.page()
		head(w.Header(), "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy(p.colors()))
		_, _ = w.Write(p.html()) // a lost connection has no reader
	case r.Method != http.MethodPost || s.o.Tap == nil:
		w.Header().Set("Connection", "close") // a body may follow that is not read
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "the customer's screen takes no keys here: set [keypad] page = true", http.StatusMethodNotAllowed)
	default:
		s.posted(w, r)
	}
}

// posted takes the page's form.
func (s *Screen) posted(w http.ResponseWriter, r *http.Request) {
	data, err := wire.ReadBody(r, maxForm)
	var form url.Values
	if err == nil && strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		form, _ = url.ParseQuery(string(data))
	}
	k, wrong := entry.Parse(form.Get(keyField))
	if err != nil || wrong != nil || len(form[formField]) != 1 || len(form[keyField]) != 1 {
		w.Header().Set("Connection", "close")
		status := http.StatusBadRequest
		if wire.CodeOf(err) == wire.TooLarge {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "want the form of the page", status)
		return
	}
	s.tap(form.Get(formField), k)
	w.Header().Set("Location", Path)
	w.WriteHeader(http.StatusSeeOther)
}

// Follow answers with a stream of the page's scenes, each as it stands in the page, until the reader
// leaves or ended is closed.
func (s *Screen) Follow(w http.ResponseWriter, r *http.Request, ended <-chan struct{}) {
	s.watching(1)
	defer s.watching(-1)
	head(w.Header(), "text/event-stream")
	last := ""
	httpd.Stream[scened]{
		Type: "text/event-stream", First: "retry: 1000\n\n", Alive: ":\n\n", Beat: heartbeat, Within: writeWithin, Ended: ended, Log: slog.New(slog.DiscardHandler),
		Text: func(one scened, _ []byte) string { return "data: " + one.text + "\n\n" },
	}.Send(w, r, func(ctx context.Context) (scened, error) {
		p, err := s.next(ctx, last)
		if err != nil {
			return scened{}, err
		}
		last = p.form
		var b writer
		p.stage(&b)
		return scened{b.String()}, nil
	})
}

// scened is one scene of the stream.
type scened struct{ text string }

// head sets what each answer has beside what the port's guard sets.
func head(h http.Header, kind string) {
	for _, field := range [...][2]string{
		{"Content-Type", kind}, {"X-Frame-Options", "DENY"}, {"Cross-Origin-Opener-Policy", "same-origin"}, {"Cross-Origin-Resource-Policy", "same-origin"},
	} {
		h.Set(field[0], field[1])
	}
}
