package view

import "strings"

// httpLine is the line of sales that the terminal's own token asks for; a client with a name has one
// of its own below it.
const httpLine = "http"

// LineOf is the line on which a local client sells; "" is the one with the terminal's own token.
func LineOf(client string) string {
	if client == "" {
		return httpLine
	}
	return httpLine + "/" + client
}

// OwnerOf is the local client that sells on a line; "" = the terminal's own token, or a register.
func OwnerOf(line string) string {
	client, _ := strings.CutPrefix(line, httpLine+"/")
	if client == line {
		return ""
	}
	return client
}

// OverHTTP says that a local client sells on a line.
func OverHTTP(line string) bool { return line == httpLine || OwnerOf(line) != "" }
