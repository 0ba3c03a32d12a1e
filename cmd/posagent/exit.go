package main

import "posagent/cmd/usage"

// Exit codes, by the names of this program.
const (
	exitOK          = usage.ExitOK
	exitFailed      = usage.ExitFailed
	exitUsage       = usage.ExitUsage
	exitConfig      = usage.ExitConfig
	exitNoDaemon    = usage.ExitNoDaemon
	exitNotEnrolled = usage.ExitNotEnrolled
	exitRefused     = usage.ExitRefused
	exitNoBackend   = usage.ExitNoBackend
	exitAuth        = usage.ExitAuth
	exitDamaged     = usage.ExitDamaged
	exitInterrupted = usage.ExitInterrupted
)

// exitCodes are the stable exit codes in words.
func exitCodes() []usage.Code {
	return []usage.Code{
		{Number: exitOK, Means: "ok"}, {Number: exitFailed, Means: "failed"}, {Number: exitUsage, Means: "usage"}, {Number: exitConfig, Means: "config"},
		{Number: exitNoDaemon, Means: "daemon not reachable"}, {Number: exitNotEnrolled, Means: "not enrolled"}, {Number: exitRefused, Means: "refused"},
		{Number: exitNoBackend, Means: "backend unreachable"}, {Number: exitAuth, Means: "auth rejected"}, {Number: exitDamaged, Means: "store damaged"},
		{Number: exitInterrupted, Means: "interrupted"},
	}
}

// exit is an error that knows its exit code.
type exit = usage.Exit

// exitWith ends the program with code. An error without a text has been told already.
func exitWith(code int, err error) *exit { return &exit{Code: code, Err: err} }

// fail makes an error that ends the program with code.
func fail(code int, format string, args ...any) error { return usage.Fail(code, format, args...) }
