package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"posagent/agent/config"
	"posagent/cmd/backend"
)

// configCommand reads and explains the configuration, and sets the box's own secrets.
func configCommand() command {
	return command{
		name: "config", short: "the configuration: an example, a check, what is in use; the box's key, and the PIN of its page",
		examples: []string{"posagent config example > config.toml", "posagent config check --config config.toml", "posagent config show --config config.toml"},
		sub: []command{
			{
				name: "example", short: "print a whole configuration file, every key at its default and explained",
				json:     []string{"posagent.config.example/1"},
				examples: []string{"posagent config example > config.toml"}, run: configExample,
			},
			{
				name: "check", short: "say everything that is wrong with the configuration, each with its line; exit 3 if something is",
				long:     "Reads the file and the POSAGENT_ variables as `run` does, and the certificates they name, and says with which credentials each\nservice is asked. It connects to nothing.",
				json:     []string{"posagent.config.check/1"},
				examples: []string{"posagent config check --config /etc/posagent/config.toml"}, run: configCheck,
			},
			{
				name: "show", short: "print every setting in use with the line, variable or default it comes from; secrets are masked",
				json:     []string{"posagent.config.show/1"},
				examples: []string{"posagent config show --config /etc/posagent/config.toml", "posagent config show --json"}, run: configShow,
			},
			{
				name: "diff", args: "[FROM [TO]]", short: "what one revision of the operator's configuration changes; by default the one in use",
				long:     "Every setting that is in use differently, with what the box's own file says over both. Secrets are masked.",
				json:     []string{"posagent.config.diff/1"},
				examples: []string{"posagent config diff", "posagent config diff 3 5 --json"}, run: configDiff,
			},
			{
				name: "rollback", args: "[REVISION]", short: "go back to an earlier revision of the operator's configuration",
				long: "By default to the one before that in use. The running terminal takes it up when no sale is under way. The revision that is left\n" +
					"is not fetched again; the operator's next one is.",
				json:     []string{"posagent.config.rollback/1"},
				examples: []string{"posagent config rollback", "posagent config rollback 3"}, run: configRollback,
			},
			rotateCommand(), pinCommand(),
		},
	}
}

func configExample(_ context.Context, c *call) error {
	if c.json {
		return printJSON(c.out, struct {
			Schema string `json:"schema"`
			Text   string `json:"text"`
		}{"posagent.config.example/1", config.Example()})
	}
	fmt.Fprint(c.out, config.Example())
	return nil
}

// problemView is one thing that is wrong with the configuration.
type problemView struct {
	Where string `json:"where"` // FILE:LINE, FILE, or a variable
	Key   string `json:"key"`
	Text  string `json:"text"`
}

// configCheckView is the whole judgement (posagent.config.check/1).
type configCheckView struct {
	Schema   string        `json:"schema"`
	File     string        `json:"file"` // "" = none
	OK       bool          `json:"ok"`
	Sandbox  bool          `json:"sandbox"`
	Problems []problemView `json:"problems"`
	Warnings []problemView `json:"warnings"` // what can be guessed, or lets everybody in
	Ignored  []string      `json:"ignored"`  // POSAGENT_ variables that are no setting
	Services []proofView   `json:"services"` // what each service of the backend is asked with; none in a sandbox
}

// proofView says what one service of the backend is asked with.
type proofView struct {
	Service    string   `json:"service"`
	Section    string   `json:"section"`    // "" = no credentials are set
	Keys       []string `json:"keys"`       // of that section
	Substitute bool     `json:"substitute"` // they are of a kind for other services; none of its own is set
}

// proofsOf says what each service that has an address is asked with.
func proofsOf(cfg config.Config) []proofView {
	list := []proofView{}
	for _, service := range portServices() {
		if cfg.Sandbox() || cfg.Upstream.URL(service) == "" {
			continue
		}
		p := cfg.Upstream.Proof(service)
		v := proofView{Service: service, Section: p.Section, Keys: []string{}, Substitute: p.Substitute}
		if p.Kind != "" {
			v.Keys = strings.Split(p.Kind, " and ")
		}
		list = append(list, v)
	}
	return list
}

// words says it to people. certified: a certificate is shown on each connection.
func (v proofView) words(certified bool) string {
	kinds, own := config.Kinds(v.Service)
	switch kind := strings.Join(v.Keys, " and "); {
	case kind == "" && certified && own < len(kinds):
		return "no credentials, the certificate alone"
	case kind == "":
		return "no credentials are set: set " + credentialOf(v.Service) + " of [upstream.auth] if you use it"
	case v.Substitute:
		return fmt.Sprintf("%s of [%s], for want of %s", kind, v.Section, credentialOf(v.Service))
	default:
		return fmt.Sprintf("%s of [%s]", kind, v.Section)
	}
}

func configCheck(_ context.Context, c *call) error {
	v := configCheckView{Schema: "posagent.config.check/1", File: configPath(c), Problems: []problemView{}, Warnings: []problemView{}, Ignored: []string{}, Services: []proofView{}}
	cfg, err := readConfig(c)
	if err == nil {
		v.Services = proofsOf(cfg)
		for _, w := range cfg.Weak() {
			v.Warnings = append(v.Warnings, problemView{w.Where, w.Key, w.Err.Error()})
		}
		v.Sandbox, v.Ignored = cfg.Sandbox(), append(v.Ignored, cfg.Ignored()...)
		err = errors.Join(cfg.Twice(), connectable(c, cfg))
	}
	if err == nil {
		err = exposed(cfg)
	}
	for _, p := range config.Problems(err) {
		v.Problems = append(v.Problems, problemView{p.Where, p.Key, p.Err.Error()})
	}
	v.OK = err == nil
	if c.json {
		if e := printJSON(c.out, v); e != nil {
			return e
		}
		if err != nil {
			return exitWith(exitConfig, errors.New(""))
		}
		return nil
	}
	if err != nil {
		return exitWith(exitConfig, err)
	}
	sayIgnored(c, cfg)
	sayNotInUse(c)
	what := "for " + cfg.Upstream.URL("schemes")
	if v.Sandbox {
		what = "for the SANDBOX: no [upstream]"
		if unenrolled(c, cfg) {
			what = fmt.Sprintf("no backend is named yet: posagent enroll%s CODE --url URL, or set [upstream]; without both, posagent run makes a SANDBOX", c.flags())
			if c.packaged() != "" {
				what, _, _ = strings.Cut(what, "; ")
			}
		}
	}
	from := v.File
	if from == "" {
		from = "the defaults (no file)"
	}
	fmt.Fprintf(c.out, "%s: ok, %s\n", from, what)
	for _, s := range v.Services {
		fmt.Fprintf(c.out, "%-8s  %s\n", s.Service, s.words(cfg.Upstream.ClientCert != "" || cfg.Upstream.Device != nil))
	}
	return nil
}

// exposed is why a sandbox must not listen where other machines reach it: credentials of its backend that the documents print.
func exposed(cfg config.Config) error {
	if !cfg.Sandbox() {
		return nil
	}
	return backend.Exposed(cfg, cfg.Backend.Listen)
}

// connectable reads what a connection to the backend needs: roots, certificates, keys.
func connectable(c *call, cfg config.Config) error {
	if cfg.Sandbox() {
		return nil
	}
	for _, service := range []string{"methods", "schemes"} {
		if cfg.Upstream.URL(service) == "" {
			return &config.KeyError{Where: configPath(c), Key: "upstream." + service, Err: errors.New("no address: set it, or base")}
		}
		if _, err := upstreamOf(cfg, service, logger(c), nil); err != nil {
			return &config.KeyError{Where: configPath(c), Key: "upstream", Err: err}
		}
	}
	return nil
}

func configShow(_ context.Context, c *call) error {
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	sayNotInUse(c)
	list := cfg.Settings()
	if c.json {
		return printJSON(c.out, struct {
			Schema   string           `json:"schema"`
			File     string           `json:"file"`
			Settings []config.Setting `json:"settings"`
		}{"posagent.config.show/1", configPath(c), list})
	}
	for _, s := range list {
		fmt.Fprintf(c.out, "%-34s %-40s # %s\n", s.Key+" =", s.Value, s.Origin)
	}
	return nil
}
