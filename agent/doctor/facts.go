package doctor

import (
	"context"
	"net"
	"strings"
	"time"

	"posagent/agent/doctor/exam"
	"posagent/agent/ready"
)

// Facts are what the checks look at. The functions may be called by several checks at a time.
type Facts struct {
	Now    time.Time
	Place  ready.Place
	State  string // directory
	Mine   int    // number of this process
	Proc   string // /proc
	Sys    string // /sys
	Config Config
	Daemon Daemon
	Sane   func(now time.Time) bool // whether a clock can be right
	// Zone names the time zone of this program, and what is wrong with it, nil = nothing. A terminal that runs tells its own.
	Zone     func() (name string, fault *ready.Said)
	Answers  func(ctx context.Context) error
	InMemory func(dir string) string // names its file system where that lies in memory
	Dir      func() error            // why the state directory cannot be trusted; nil where it is not there
	Token    func() error            // why the local port's token cannot be used
	Key      func() Key
	Lines    func() []Line                 // the serial ones
	List     func() (words, remedy string) // why the till's list of the daily comparison cannot be used, "" = it can
	Pad      func() *ready.Trouble         // why the keypad cannot be read, nil = it can
	Screens  func() []ready.Trouble        // why no picture can be drawn on those of a terminal that does not run
	Journal  func(ctx context.Context) Journal
	Backend  func(ctx context.Context) Answer // the method list
	Schemes  func(ctx context.Context) Answer
	// Accounts are the other services with credentials that are set, each asked a question that moves no money.
	Accounts func(ctx context.Context) []Account
}

// Config is what the checks need of the configuration.
type Config struct {
	File     string // "" = none
	Named    bool   // a file or a variable sets something
	Problems []Problem
	Twice    []string // devices and files that two of its keys name, and one alone can have
	NoRecord string   // why the record of the enrolment cannot be read, "" = it can, or there is none
	Files    string   // why certificates or roots that it names cannot be used
	Ignored  []string

	Sandbox     bool
	Unenrolled  bool // it has no enrolment, names no backend, and was no sandbox yet
	Terminal    string
	Backend     string // address
	Separate    bool   // schemes and method list have different addresses
	Proxy       bool
	Port        string   // address, "" = none
	First       string   // device of the first register line, "" = it has none
	Serial      []string // devices of the register lines
	TCP         []string // addresses of the register lines
	Sellers     int      // local programs that may sell over HTTP
	Keypad      string   // device, "" = none
	List        string   // file of the daily comparison, "" = none
	Screens     []string // devices and files of [display]
	Open        []string // addresses of register lines that take every address of a network without a password
	Credentials bool     // something is set to prove who asks
	ClientCert  string
	Revision    int64  // of the operator's configuration, 0 = none
	GivenUp     int64  // the highest one that was given up
	Device      []byte // DER of the enrolment's certificate, nil = none
	Mark        string
	Refresh     time.Duration
	MaxAge      time.Duration // of an operation; 0 = for ever
	MaxCount    int
}

// OK says that the configuration can be used.
func (c Config) OK() bool { return len(c.Problems) == 0 }

// Problem is one error of the configuration.
type Problem struct {
	Where, Key, Text string
	NoFile           bool // the key names a certificate that is not there
}

// Daemon is what is known of the running terminal.
type Daemon struct {
	PID      int
	Running  bool
	Err      string // why that is not known
	Told     bool   // it has said something of itself
	Report   ready.Report
	Troubles []ready.Said
	Terminal string
	Backend  string
	Serial   string
	Sandbox  bool
	Zone     string // "" = it does not say
	Undone   []Undelivered
	Lines    []Heard
	Printer  Printer
}

// Printer is what the running terminal says of its receipt printer.
type Printer struct {
	Set     bool // it has one
	Waiting int  // documents
	Reason  string
	NearEnd bool
	Behind  int // cut off again and again
}

// Undelivered is a service to which operations cannot be delivered.
type Undelivered struct {
	Name   string
	Words  string
	Remedy string
	Since  time.Time
	Kinds  []string // of operation that go there
}

// Heard is what a register line has counted.
type Heard struct {
	Name      string
	Deaf      bool // bytes come, and no message is among them
	Bad       uint64
	Noise     uint64
	Passwords uint64 // wrong ones of the last day
	From      string
}

// Key is the device key.
type Key struct {
	Missing bool
	Unfit   bool // not a private key file
	Text    string
	Path    string
}

// Line is a serial line of a terminal that does not run.
type Line struct {
	Name   string // as configured
	Device string // behind the configured name
	Cause  ready.Cause
	Text   string
	Remedy string // "" = that of the cause
}

// JournalState says whether the journal can be read.
type JournalState string

// The states.
const (
	NoJournal   JournalState = "none"
	Readable    JournalState = "readable"
	NoDatabase  JournalState = "no_database" // its head is not that of a journal
	Damaged     JournalState = "damaged"     // its head is, and something behind it is not whole
	CutShort    JournalState = "cut"
	LostJournal JournalState = "lost"
	NewerSchema JournalState = "newer"
	WrongKey    JournalState = "wrong_key"
	FullDisk    JournalState = "full"
	Forbidden   JournalState = "forbidden"
	Unreadable  JournalState = "unreadable"
)

// Journal is what was read of the journal.
type Journal struct {
	State JournalState
	Text  string

	Keyed       bool // its rows could be verified
	WALBytes    int64
	Holders     string // the processes that keep the log from being folded, "" = none is seen
	ShortBytes  int64
	Doubt       int64 // operations
	Held        int64
	Waiting     int64
	Oldest      time.Time        // of those that wait
	OldestIs    string           // its key
	Kinds       map[string]int64 // what waits, by kind
	Restored    string           // what happened to the journal, while what it holds was not released; "" = nothing
	Alerts      []string         // what waits for an acknowledgement, one line each
	Unconfirmed int
	Few         string // how many receipt numbers of the open batch are used, "" = not many
	Full        bool   // all of them
	Aside       []string
	Altered     []string
	Missing     []string  // what is said of rows that were removed
	Fetched     time.Time // the method list
	Starts      int       // of the last 24 hours
	Quick       func(ctx context.Context) error
	Audit       func(ctx context.Context) ([]string, error)
}

// Phase is how far a connection came.
type Phase int

// The phases.
const (
	Begun Phase = iota
	Found       // the name was resolved
	Connected
	Secured
	Answered
)

// Answer is what asking the backend came to.
type Answer struct {
	None      string // why it was not asked; "" = it was
	Host      string
	TLS       bool
	Cause     ready.Cause // "" = it answered as it should
	Detail    string
	Phase     Phase
	Status    int // of the reply, 0 = none came
	Clock     time.Time
	At        time.Time // of the box, when Clock was read
	CertUntil time.Time
	Named     time.Duration // until the host's name was found

	Keys string // of [upstream.auth] that it was asked with

	Methods  int
	NoMethod bool
	Fit      bool
}

// Trouble is the answer's fault; its cause is "" where there is none.
func (a Answer) Trouble() ready.Trouble {
	return ready.Trouble{Cause: a.Cause, Where: a.Host, Detail: a.Detail, Keys: a.Keys, Plain: !a.TLS}
}

// Account is what asking a service came to by which no sale is begun.
type Account struct {
	Service string
	Answer  Answer
}

// Fill puts what is known into a remedy: {config}, {flags}, {run}, {state}, {scheme}, {host}, {name}, {device} and {list}.
func (f *Facts) Fill(text string) string {
	config := f.Place.In()
	if strings.Contains(text, "[upstream") {
		config = f.Place.In("upstream.roots_file", "upstream.client_cert", "upstream.pins", "upstream.base", "upstream.")
	}
	host, name := f.host()
	device := "DEVICE"
	if len(f.Config.Serial) > 0 {
		device = f.Config.Serial[0]
	}
	scheme := "http"
	if f.secure() {
		scheme = "https"
	}
	return strings.NewReplacer("{scheme}", scheme, "{config}", exam.Clean(config), "{flags}", f.Place.Flags, "{run}", f.Place.Start(), "{state}", f.State, "{host}", exam.Clean(host), "{name}", exam.Clean(name), "{device}", exam.Clean(device), "{list}", exam.Clean(f.Config.List)).Replace(text)
}

// host is the backend's host with its port, as its address has it, and its name alone.
func (f *Facts) host() (host, name string) {
	host = strings.TrimPrefix(strings.TrimPrefix(f.Config.Backend, "https://"), "http://")
	host, _, _ = strings.Cut(host, "/")
	if name, _, err := net.SplitHostPort(host); err == nil {
		return host, name
	}
	return host, host
}
