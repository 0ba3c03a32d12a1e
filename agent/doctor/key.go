package doctor

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"

	"posagent/agent/doctor/exam"
	"posagent/agent/ready"
	"posagent/device/file"
)

const (
	certWarn = 30 * 24 * time.Hour
	certSoon = 7 * 24 * time.Hour
	maxCert  = 1 << 20 // bytes of a file with one
)

// keyChecks are about the device key and what proves the terminal to the backend.
func keyChecks() []Check {
	return []Check{
		{
			ID: "PA-KEY-001", Severity: exam.Critical, After: []string{"PA-DSK-001"}, Command: "ls -l {state}/keys",
			Look: func(_ context.Context, f *Facts) Finding {
				if k := f.Key(); k.Missing {
					return f.said(ready.Trouble{Cause: ready.KeyMissing, Where: f.State, Detail: k.Text})
				}
				return exam.Passed()
			},
		},
		{
			ID: "PA-KEY-002", Severity: exam.Critical, After: []string{"PA-KEY-001"}, Command: "ls -l {state}/keys",
			Look: func(_ context.Context, f *Facts) Finding {
				if k := f.Key(); k.Unfit {
					found := f.said(ready.Trouble{Cause: ready.KeyUnfit, Where: f.State, Detail: k.Text})
					found.Saw = append(found.Saw, "file", k.Path)
					return found
				}
				return exam.Passed()
			},
		},
		{
			ID: "PA-KEY-003", Severity: exam.Critical, After: []string{"PA-CFG-006", "PA-CLK-001"}, Command: showConfig,
			Look: func(_ context.Context, f *Facts) Finding {
				der := f.Config.Device
				if f.Config.ClientCert != "" {
					data, _, err := file.Read(f.Config.ClientCert, file.Follow, maxCert)
					if err != nil {
						return exam.Behind("PA-CFG-006")
					}
					block, _ := pem.Decode(data)
					if block == nil {
						return exam.Behind("PA-CFG-006")
					}
					der = block.Bytes
				}
				if der == nil {
					return exam.Nothing("no client certificate is set")
				}
				cert, err := x509.ParseCertificate(der)
				if err != nil {
					return exam.Behind("PA-CFG-006")
				}
				found := dates(cert.NotBefore, cert.NotAfter, f.Now)
				if f.Config.ClientCert == "" && found.Status != exam.Pass { // the enrolment's
					return found.Typed("the terminal renews it by itself and could not: posagent enroll{flags} tries at once, and says what is wrong", "posagent enroll{flags}")
				}
				return found
			},
		},
	}
}

// dates judges a certificate by its dates. The zero time is one that is not known.
func dates(from, until, now time.Time) Finding {
	m := exam.Measured{"until", until.UTC().Format("2006-01-02")}
	switch left := until.Sub(now); {
	case now.Before(from):
		return m.Failed("not valid before " + from.UTC().Format("2006-01-02"))
	case left <= 0:
		return m.Failed("out of date")
	case left < certSoon:
		return m.Warned(fmt.Sprintf("ends within %d day(s)", int(left/(24*time.Hour))+1))
	case left < certWarn:
		return m.Warned("ends within 30 days")
	}
	return m.Passed()
}
