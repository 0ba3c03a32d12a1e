package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// word is the word of a page that each form of it carries.
var (
	word = regexp.MustCompile(`name="form" value="([A-Z2-7]+)"`)
	seen = regexp.MustCompile(`name="seen" value="([^"]+)"`)
)

// browse STATUS METHOD URL [FORM] asks for the terminal's page as a browser does. The page lies in page.html afterwards. Where it leads
// on, the way is $PAGE; what a browser would show there is $COOKIE, and the word of the page's forms, which a form of it carries, $WORD.
func browse(ts *testscript.TestScript, neg bool, args []string) {
	form := ""
	if len(args) > 3 {
		form = args[3]
		if at, err := url.Parse(args[2]); err == nil && at.Path != "/" {
			form += "&form=" + ts.Getenv("WORD")
		}
	}
	req, err := http.NewRequest(args[1], args[2], strings.NewReader(form))
	ts.Check(err)
	for k, v := range map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Accept-Language": "en", "Cookie": ts.Getenv("COOKIE")} {
		if v != "" {
			req.Header.Set(k, v)
		}
	}
	if args[1] == http.MethodPost {
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		req.Header.Set("Origin", "null")
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	ts.Check(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	ts.Check(err)
	if fmt.Sprint(resp.StatusCode) != args[0] {
		ts.Fatalf("%s, want %s: %s", resp.Status, args[0], text)
	}
	ts.Check(os.WriteFile(ts.MkAbs("page.html"), text, 0o600))
	for _, c := range resp.Cookies() {
		ts.Setenv("COOKIE", c.Name+"="+c.Value)
	}
	if m := word.FindSubmatch(text); m != nil {
		ts.Setenv("WORD", string(m[1]))
	}
	if m := seen.FindSubmatch(text); m != nil {
		ts.Setenv("SEEN", string(m[1]))
	}
	if to := resp.Header.Get("Location"); to != "" && to != "/" {
		at, err := req.URL.Parse(to)
		ts.Check(err)
		ts.Setenv("PAGE", at.String())
		ts.Setenv("WORD", "")
		if args[1] == http.MethodPost { // a browser goes there at once
			browse(ts, neg, []string{"200", http.MethodGet, at.String()})
		}
	}
}
