package point

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// The variables.
const (
	KillAt = "POSAGENT_KILL_AT"
	Log    = "POSAGENT_POINTS"
	Next   = "POSAGENT_NEXT"
)

// Killed begins the last line of a log whose process has killed itself.
const Killed = "KILLED "

// counter counts how often each place was reached.
type counter struct {
	mu    sync.Mutex
	times map[string]int
	at    string
	nth   int
	log   *os.File
}

// places is made at the first Hit and never replaced.
var places = sync.OnceValue(func() *counter {
	c := &counter{times: map[string]int{}}
	if at := os.Getenv(KillAt); at != "" {
		var err error
		if c.at, c.nth, err = Parse(at); err != nil {
			panic(err)
		}
	}
	if name := os.Getenv(Log); name != "" {
		c.log, _ = os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) // nil writes nowhere
	}
	return c
})

// Parse reads "name:nth".
func Parse(at string) (name string, nth int, err error) {
	i := strings.LastIndexByte(at, ':')
	if i < 0 {
		return "", 0, fmt.Errorf("%s=%q: want name:nth", KillAt, at)
	}
	nth, err = strconv.Atoi(at[i+1:])
	if err != nil || nth < 1 {
		return "", 0, fmt.Errorf("%s=%q: want name:nth", KillAt, at)
	}
	return at[:i], nth, nil
}

// Hit says that the place called name is reached.
func Hit(name string) {
	c := places()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.times[name]++
	if c.at == name && c.times[name] == c.nth {
		fmt.Fprintf(c.log, "%s%s\n", Killed, name)
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // until the signal is here
	}
	fmt.Fprintln(c.log, name)
}

// Func is the name of a function: "drive.Drive.apply" for a closure of (*Drive).apply.
func Func(fn any) string {
	name := runtime.FuncForPC(reflect.ValueOf(fn).Pointer()).Name()
	name = name[strings.LastIndexByte(name, '/')+1:]
	var parts []string
	for part := range strings.SplitSeq(strings.NewReplacer("(*", "", ")", "", "-fm", "").Replace(name), ".") {
		if strings.HasPrefix(part, "func") || part == "" || part[0] >= '0' && part[0] <= '9' {
			continue
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ".")
}

// Route is the last word of a request's path, with a "*" for each id behind it.
func Route(method, path string) string {
	path, ids := strings.TrimSuffix(path, "/"), ""
	for {
		i := strings.LastIndexByte(path, '/')
		last := path[i+1:]
		if i < 0 || !strings.ContainsAny(last, "0123456789") {
			return method + " " + last + ids
		}
		path, ids = path[:i], "/*"+ids
	}
}
