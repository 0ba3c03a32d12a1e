package main

import (
	"bytes"
	"context"
	"path/filepath"

	"posagent/ecr/nexo/cert"
)

func certificateCommand() command {
	return command{
		name: "certificate", short: "print what a till of a nexo line must trust, as PEM",
		long: "It is the authority that stands above the certificate of each nexo line of this terminal, and signs nothing else. The first\n" +
			"start with such a line makes it. Exit 1 where there is none.",
		json:     []string{"posagent.register.certificate/1"},
		examples: []string{"posagent register certificate > terminal.pem"},
		run:      registerCertificate,
	}
}

// certificateView is what tills must trust (posagent.register.certificate/1).
type certificateView struct {
	Schema string `json:"schema"`
	PEM    string `json:"pem"`
}

func registerCertificate(_ context.Context, c *call) error {
	dir := c.stateDir()
	if err := asOwner(dir); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, nexoFiles))
	if err != nil {
		return fail(exitFailed, "%v", err)
	}
	if len(files) == 0 {
		return fail(exitFailed, "%s: %s has no certificate: start the terminal with a register line that has protocol = \"nexo\"", c.path, dir)
	}
	var all bytes.Buffer
	for _, file := range files {
		data, err := readOwn(file, maxNexo)
		if err != nil {
			return fail(exitFailed, "%v", err)
		}
		trusted, err := cert.Trusted(data)
		if err != nil {
			return fail(exitFailed, "%s: %v (the next start makes a new one)", file, err)
		}
		all.Write(trusted)
	}
	if c.json {
		return printJSON(c.out, certificateView{"posagent.register.certificate/1", all.String()})
	}
	_, err = c.out.Write(all.Bytes())
	return err
}
