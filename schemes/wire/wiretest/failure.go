package wiretest

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

// Failure is how a transcript's result names an error; the zero value is a success. A test's result embeds it.
type Failure struct {
	Code       wire.Code `json:"code"`
	Reason     string    `json:"reason"`
	Msg        string    `json:"msg"`
	RetryAfter int       `json:"retryAfter"` // seconds
}

// Check holds a Client's error against the failure; the text only where the transcript has one.
func (f Failure) Check(t *testing.T, err error) {
	t.Helper()
	var e *wire.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, f.Code, e.Code, "%v", err)
	require.Equal(t, f.Reason, e.Reason)
	require.Equal(t, time.Duration(f.RetryAfter)*time.Second, e.RetryAfter)
	if f.Msg != "" {
		require.Equal(t, f.Msg, e.Msg)
	}
}

// Err makes the failure as a Service gives it to its Handler: with a cause that must stay inside, and with a wait that
// must be rounded up. A success gives nil.
func (f Failure) Err() error {
	if f.Code == "" {
		return nil
	}
	e := &wire.Error{Code: f.Code, Reason: f.Reason, Msg: f.Msg, Err: errors.New("a cause that stays inside")}
	if f.RetryAfter > 0 {
		e.RetryAfter = time.Duration(f.RetryAfter)*time.Second - time.Millisecond
	}
	return e
}
