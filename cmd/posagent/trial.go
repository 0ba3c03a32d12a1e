package main

import "os"

// onTrial reports whether an update has put this program in place and may still take it back: a file beside the program says so.
func onTrial() bool {
	program, err := os.Executable()
	if err != nil {
		return false
	}
	_, err = os.Lstat(program + ".trial")
	return err == nil
}
