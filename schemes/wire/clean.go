package wire

// Clean makes a foreign text fit for a log line or a screen: printable, and at most 200 characters.
func Clean(s string) string { return clean(s) }
