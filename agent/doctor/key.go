package doctor

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"time"
)

const (
	certWarn = 30 * 24 * time.Hour
	certSoon = 7 * 24 * time.Hour
)

// keyChecks are about the device key and what proves the terminal to the backend.
func keyChecks() []Check {
	return []Check{
		{
			ID: "PA-KEY-001", Title: "the device key of the journal is there", Severity: Critical, After: []string{"PA-DSK-001"},
			Means:  "the journal is whole and opens with no other key, so the terminal does not start",
			How:    "the key's file is looked for beside a journal",
			Remedy: Remedy{Text: "put the file back from where it was kept; leave the journal as it is", Command: "ls -l {state}/keys"},
			Look: func(_ context.Context, f *Facts) Finding {
				if k := f.Key(); k.Missing {
					return failed("seen", k.Text)
				}
				return passed()
			},
		},
		{
			ID: "PA-KEY-002", Title: "the device key is a private file", Severity: Critical, After: []string{"PA-KEY-001"},
			Means:  "others can read the key, or the file is not the key that was made here; the terminal does not start",
			How:    "owner, mode and content of the file are read",
			Remedy: Remedy{Text: "posagent doctor --fix sets the mode to 0600. Other accounts may have read the key: change it by posagent config rotate-key", Command: "ls -l {state}/keys"},
			Look: func(_ context.Context, f *Facts) Finding {
				if k := f.Key(); k.Unfit {
					return failed("seen", k.Text, "file", k.Path)
				}
				return passed()
			},
		},
		{
			ID: "PA-KEY-003", Title: "the client certificate is in date", Severity: Critical, After: []string{"PA-CFG-006", "PA-CLK-001"},
			Means:  "the backend refuses the terminal from that day on",
			How:    "the dates in client_cert of [upstream] are compared with the clock",
			Remedy: Remedy{Text: "ask the backend's operator for a new certificate, and put it where client_cert names it", Command: "posagent config show{flags}"},
			Look: func(_ context.Context, f *Facts) Finding {
				if f.Config.ClientCert == "" {
					return nothing("no client certificate is set")
				}
				data, err := os.ReadFile(f.Config.ClientCert)
				if err != nil {
					return behind("PA-CFG-006")
				}
				block, _ := pem.Decode(data)
				if block == nil {
					return behind("PA-CFG-006")
				}
				cert, err := x509.ParseCertificate(block.Bytes)
				if err != nil {
					return behind("PA-CFG-006")
				}
				return dates(cert.NotBefore, cert.NotAfter, f.Now)
			},
		},
	}
}

// dates judges a certificate by its dates. The zero time is one that is not known.
func dates(from, until, now time.Time) Finding {
	e := []string{"until", until.UTC().Format("2006-01-02")}
	switch left := until.Sub(now); {
	case now.Before(from):
		e = append(e, "seen", "not valid before "+from.UTC().Format("2006-01-02"))
		return failed(e...)
	case left <= 0:
		e = append(e, "seen", "out of date")
		return failed(e...)
	case left < certSoon:
		e = append(e, "seen", fmt.Sprintf("ends within %d day(s)", int(left/(24*time.Hour))+1))
		return warned(e...)
	case left < certWarn:
		e = append(e, "seen", "ends within 30 days")
		return warned(e...)
	}
	return passed(e...)
}
