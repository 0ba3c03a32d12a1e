package backend

import (
	"errors"
	"io"
	"log/slog"
	"time"

	"posagent/agent/config"
	"posagent/cmd/usage"
	"posagent/schemes/backend"
)

// Call is one invocation of a verb, as its program gives it.
type Call struct {
	Program  string // as its verbs are called: "posagent backend"
	In       io.Reader
	Out, Err io.Writer // data, talk
	Window   bool      // Out may be drawn on
	JSON     bool
	Path     string // the verb, as an error begins: "backend books"
	Version  string // of the program
	State    string // --state as it was given, may be ""
	Named    bool   // it was typed: a variable that gives it yields to --backend
	Args     []string
	Log      *slog.Logger
	Lost     string         // what to do where the books are not found
	Engine   backend.Engine // the zero value = a file in the directory
	Drain    time.Duration  // how long a backend that ends serves on, unless --drain says otherwise

	Config func() (config.Config, error) // with exit codes
	Dir    func(config.Config) string    // the backend's
	Ended  func(error) error             // gives an error of the store its exit code and its remedy

	Built  time.Time // of the program, the zero time where that is not known
	Server Server    // what the engine adds to the checks of doctor
	// Tolerates says whether --tolerate of the program has a word, where all verbs have that flag; nil = the verbs have their own.
	Tolerates func(word string) bool

	doctor doctorOptions
	serve  serveOptions
	hooks  hooksOptions
	fleet  fleetOptions
	roll   rollOptions
}

// tolerate returns whether printed credentials may be listened with on any address.
func (c *Call) tolerate() (bool, error) {
	if c.Tolerates != nil {
		return c.Tolerates(DemoCredentials), nil
	}
	return Tolerates(c.serve.tolerate + c.doctor.tolerate) // one verb has one of them
}

// at is where the books are of the backend in dir.
func (c *Call) at(dir string) backend.Place { return backend.Place{Dir: dir, Engine: c.Engine} }

// unread is an error of reading the books.
func (c *Call) unread(err error) error {
	var own *usage.Exit
	if errors.As(err, &own) {
		return &usage.Exit{Code: own.Code, Err: err}
	}
	return usage.Fail(usage.ExitFailed, "%w (%s)", err, c.Lost)
}

// dir is the backend's directory, with the configuration.
func (c *Call) dir() (string, config.Config, error) {
	cfg, err := c.Config()
	if err != nil {
		return "", cfg, err
	}
	return c.Dir(cfg), cfg, nil
}
