package backend

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"posagent/agent/config"
	"posagent/agent/doctor/exam"
	"posagent/schemes/backend"
)

// Check is one row of a backend's table.
type Check = exam.Check[*Facts]

// Server is what an engine adds to the checks of a backend.
type Server struct {
	Checks []Check        // of the machine that has the books; they stand before those of the books
	Gates  []string       // those of them without which the books cannot be read
	Codes  map[string]int // their exit codes, where they are others than 1
	// Works counts the processes that work on the books; nil = the engine's Held says it.
	Works func(ctx context.Context) (int, error)
}

// Facts are what the checks look at.
type Facts struct {
	Now       time.Time
	Program   string // as its verbs are called
	Built     time.Time
	Dir       string // of the backend
	Config    config.Config
	ConfigErr error
	Listen    string // host:port
	Server    Server

	Address func() string                                      // of the backend that runs on Dir, as it has written it; "" = none
	Live    func(ctx context.Context, url string) (int, error) // asks /livez; 0 = not HTTP
	Ready   func(ctx context.Context, url string) (string, error)
	Held    func() (pid int, held bool, err error)
	Books   func(ctx context.Context) (backend.Survey, error)

	flags     string
	shared    bool
	tolerated bool // printed credentials on any address
}

var _ exam.Facts = (*Facts)(nil)

// Fill implements exam.Facts: {program}, {flags}, {state} and {listen}.
func (f *Facts) Fill(text string) string {
	return strings.NewReplacer("{program}", f.Program, "{flags}", exam.Clean(f.flags), "{state}", exam.Clean(f.Dir), "{listen}", exam.Clean(f.Listen)).Replace(text)
}

// askWithin bounds a question to a running backend.
const askWithin = 2 * time.Second

// ask gives the facts what asks for them.
func (f *Facts) ask(ctx context.Context, at backend.Place) {
	f.Address = sync.OnceValue(func() string {
		url, err := Running(f.Dir)
		if err != nil {
			return ""
		}
		return url
	})
	f.Live = func(ctx context.Context, url string) (int, error) {
		status, _, err := get(ctx, url+"/livez")
		return status, err
	}
	f.Ready = func(ctx context.Context, url string) (string, error) {
		status, text, err := get(ctx, url+"/readyz")
		if err != nil || status == http.StatusNoContent {
			return "", err
		}
		return text, nil
	}
	f.Held = at.Held
	books := sync.OnceValues(func() (backend.Survey, error) {
		ctx, cancel := context.WithTimeout(ctx, exam.Usual().Each-time.Second)
		defer cancel()
		return backend.ReadSurvey(ctx, at, f.Now)
	})
	f.Books = func(context.Context) (backend.Survey, error) { return books() }
}

// get reads an answer of a running backend. It shows no credential, and follows nowhere.
func get(ctx context.Context, url string) (status int, text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	client := http.Client{
		Timeout:       askWithin,
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	return resp.StatusCode, strings.TrimSpace(string(body)), err
}

// taken says whether anything accepts connections at an address. It listens nowhere.
func taken(ctx context.Context, address string) (bool, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "0" {
		return false, err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return false, nil // what does not answer is no backend; what else is wrong with it the start says
	}
	return true, conn.Close()
}

// works says whether a process works on the books.
func (f *Facts) works(ctx context.Context) (bool, error) {
	if f.Server.Works != nil {
		n, err := f.Server.Works(ctx)
		return n > 0, err
	}
	_, held, err := f.Held()
	return held, err
}
