package upstream

import (
	"errors"
	"strconv"
)

// Errors of this package, beside *wire.Error.
var (
	ErrRedirect = errors.New("upstream: the backend redirects, which is refused")
	ErrBody     = errors.New("upstream: reply too large")
	ErrLost     = errors.New("upstream: refused, but an earlier try of the same request may have arrived")
	ErrHost     = errors.New("upstream: request to another host than the backend's")
)

// errPin names the remedy: the terminal's owner decides whether the new key is the backend's.
var errPin = errors.New("upstream: no certificate of the backend has a pinned key: if the backend has changed its key, put the new one into upstream.pins, else somebody is listening in")

// errWeak is an RSA key in the backend's chain that is too short.
var errWeak = errors.New("upstream: the backend's certificate, or one above it, has an RSA key below 2048 bits: the backend needs a new certificate")

// errRests is in the chain of a token service's last answer while it is not asked again.
var errRests = errors.New("the token service is not asked again yet")

// errPage is a web page where a token was asked for.
var errPage = errors.New("a web page in the token service's place")

// statusError is a reply by its status, where an error has to carry it.
type statusError int

func (e statusError) Error() string { return "reply " + strconv.Itoa(int(e)) }

// proxyError is a proxy's refusal to connect.
type proxyError int

func (e proxyError) Error() string { return "the proxy answers " + strconv.Itoa(int(e)) }
