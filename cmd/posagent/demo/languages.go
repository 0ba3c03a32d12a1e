package demo

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// language is a protocol in which a register asks over TCP.
type language struct {
	protocol string
	says     string
	ids      bool // a sale has an id of the register's
	undoes   bool // it cannot ask how a sale ended: the lost cable is its abort
}

// poi names the terminal in nexo.
const poi = "POSAGENT-000029001006"

// spoken are the languages beside ZVT, in the order of the terminal's configuration.
func spoken() []language {
	return []language{
		{protocol: "jsonl", says: "JSON lines", ids: true},
		{protocol: "nexo", says: "nexo Retailer, over HTTPS", ids: true},
		{protocol: "ecr17", says: "ECR17, as in Italy"},
		{protocol: "caisse-ap", says: "Caisse-AP, as in France", undoes: true},
	}
}

// linesConfig is the part of the terminal's configuration with their lines.
func linesConfig() string {
	var b strings.Builder
	for _, l := range spoken() {
		fmt.Fprintf(&b, "[[ecr]]\nprotocol = %q\ntcp = \"127.0.0.1:0\"\n", l.protocol)
		if l.protocol == "nexo" {
			fmt.Fprintf(&b, "poi_id = %q\n", poi)
		}
	}
	return b.String()
}

// plugLines leads a cable to each line of the terminal.
func (s *story) plugLines(at []string) (err error) {
	if want := len(spoken()); len(at) != want {
		return fmt.Errorf("the terminal listens for registers at %d addresses, want %d: %v", len(at), want, at)
	}
	s.cutLines()
	s.lines = make([]*network, len(at))
	for i, address := range at {
		if s.lines[i], err = newNetwork(address); err != nil {
			return err
		}
	}
	return nil
}

func (s *story) cutLines() {
	for _, l := range s.lines {
		l.cut()
	}
}

// languages: the same sale is asked for in each, and the cable is pulled before the result.
func (s *story) languages(ctx context.Context) error {
	s.chapter("The same sale in five languages, and the cable is pulled in each")
	s.say("          │ ZVT, on the serial line:")
	if err := s.pulled(ctx); err != nil {
		return err
	}
	if err := s.certificate(ctx); err != nil {
		return err
	}
	for i, l := range spoken() {
		s.say("          │ %s:", l.says)
		if err := s.lost(ctx, l, s.lines[i]); err != nil {
			return fmt.Errorf("%s: %w", l.says, err)
		}
	}
	return nil
}

// pulled: a register that speaks ZVT asks again with 06 20.
func (s *story) pulled(ctx context.Context) error {
	reg, now, err := s.showing(ctx, "33.00")
	if err != nil {
		return err
	}
	s.cable.pull()
	s.say("cable     │ ✂ pulled out")
	if err := s.paidUnheard(ctx, now); err != nil {
		return err
	}
	reg.kill()
	s.cable.plug()
	return s.again(ctx)
}

// paidUnheard: the customer pays what no register hears of.
func (s *story) paidUnheard(ctx context.Context, now sale) error {
	if err := s.wallet(ctx, "pay", now); err != nil {
		return err
	}
	if _, err := s.until(ctx, "approved", s.slow(), func(v sale) bool { return v.Result == "approved" }); err != nil {
		return err
	}
	s.say("cable     │ the terminal knows that the money moved, the register does not; plugged in again")
	return nil
}

// certificate is what a till of nexo has to trust.
func (s *story) certificate(ctx context.Context) error {
	p, err := s.start(ctx, "technician", nil, append([]string{"register", "certificate"}, s.flags()...)...)
	if err != nil {
		return err
	}
	if code, err := p.wait(s.slow()); err != nil || code != 0 {
		return fmt.Errorf("posagent register certificate: exit %d, %v\n%s", code, err, p.tail())
	}
	return os.WriteFile(s.path("terminal.pem"), []byte(strings.Join(p.lines, "\n")+"\n"), 0o600)
}

// lost: the cable of a register over TCP.
func (s *story) lost(ctx context.Context, l language, way *network) error {
	var id []string
	if l.ids {
		id = []string{"--id", "order-" + l.protocol}
	}
	reg, now, err := s.showingIn(ctx, l, way, id...)
	if err != nil {
		return err
	}
	way.cut()
	s.say("cable     │ ✂ pulled out")
	if l.undoes {
		return s.undone(ctx, l, reg, way)
	}
	if err := s.paidUnheard(ctx, now); err != nil {
		return err
	}
	if _, err := reg.wait(s.slow()); err != nil {
		return err
	}
	if err := way.mend(); err != nil {
		return err
	}
	if reg, err = s.speaks(ctx, l, way, "repeat", id...); err != nil {
		return err
	}
	return s.expect(ctx, reg, 0, "approved", true)
}

// undone: the register cannot ask, so the terminal stops the sale, and the next one is paid once.
func (s *story) undone(ctx context.Context, l language, reg *process, way *network) error {
	if _, err := s.until(ctx, "aborted", s.slow(), func(v sale) bool { return v.Result == "aborted" && v.Settled }); err != nil {
		return err
	}
	s.say("terminal  │ this register cannot ask how it ended: the sale is stopped, and nothing moves")
	if _, err := reg.wait(s.slow()); err != nil {
		return err
	}
	if err := way.mend(); err != nil {
		return err
	}
	reg, now, err := s.showingIn(ctx, l, way)
	if err != nil {
		return err
	}
	if err := s.wallet(ctx, "pay", now); err != nil {
		return err
	}
	return s.expect(ctx, reg, 0, "approved", false)
}

// showingIn asks for the sale in a language, and waits until its code is on the screen.
func (s *story) showingIn(ctx context.Context, l language, way *network, id ...string) (reg *process, now sale, err error) {
	if reg, err = s.speaks(ctx, l, way, "pay", append([]string{"33.00"}, id...)...); err == nil {
		now, err = s.until(ctx, "showing its code", s.slow(), shown)
	}
	return reg, now, err
}

// speaks starts a register verb in a language.
func (s *story) speaks(ctx context.Context, l language, way *network, verb string, args ...string) (*process, error) {
	short := append([]string{"posagent register", verb, "--protocol", l.protocol}, args...)
	s.say("register  │ $ %s", strings.Join(short, " "))
	all := append([]string{"register", verb, "--protocol", l.protocol, "--line", "tcp:" + way.at, "--currency", "EUR"}, args...)
	if l.protocol == "nexo" { // its register has to know the terminal
		all = append(all, "--poi-id", poi, "--roots-file", s.path("terminal.pem"))
	}
	return s.start(ctx, "register", s.teller("register"), all...)
}
