package backend

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	room "posagent/schemes/backend/fleet"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/store"
)

// Fleet is the enrolment service in process, without HTTP and credentials; nil where none may enrol.
func (b *Backend) Fleet() *room.Fleet { return b.fleet }

// ReadFleet lists enrolments of the backend in a place, the newest first. It changes nothing and works beside a running backend.
func ReadFleet(ctx context.Context, p Place, req fleet.ListRequest) (list []fleet.Enrolment, err error) {
	if err := check.Request("fleet.list", req); err != nil {
		return nil, err
	}
	err = readFleet(ctx, p, func(r store.Reader) (err error) { list, err = room.Read(r, req, time.Now()); return err })
	return list, err
}

// ReadVersions lists what has become of versions of the program, as ReadFleet does.
func ReadVersions(ctx context.Context, p Place) (list []fleet.Rollout, err error) {
	err = readFleet(ctx, p, func(r store.Reader) (err error) { list, err = room.ReadVersions(r); return err })
	return list, err
}

// ReadRolls lists the newest roll-outs of settings, as ReadFleet does.
func ReadRolls(ctx context.Context, p Place) (list []fleet.Roll, err error) {
	err = readFleet(ctx, p, func(r store.Reader) (err error) { list, err = room.ReadRolls(r, time.Now().UnixMilli()); return err })
	return list, err
}

func readFleet(ctx context.Context, p Place, read func(store.Reader) error) error {
	db, err := p.read(ctx)
	if err != nil {
		return fmt.Errorf("read fleet: %w", err)
	}
	defer db.Close()
	return db.Read(ctx, read)
}

// maxDevice is the longest body of a device, in bytes: strangers send them, too.
const maxDevice = 16 << 10

// enrol serves the enrolment service: the operator shows a token of its own, a device its code or its proof. nil where
// none may enrol.
func (b *Backend) enrol(g guard, cfg Config) http.Handler {
	if b.fleet == nil {
		return nil
	}
	o := fleet.HandlerOptions{Log: cfg.Log}
	desk := g.operator(fleet.DeskHandler(b.fleet, o))
	o.MaxBody = maxDevice
	device := fleet.Handler(b.fleet, o)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case fleet.ForDesk(r):
			desk.ServeHTTP(w, r)
		case r.Header.Get("Origin") != "" || r.Header.Get("Referer") != "":
			wire.WriteProblem(w, r, g.log, wire.Errorf(wire.Forbidden, "", "not for browsers"), nil)
		default:
			device.ServeHTTP(w, r)
		}
	})
}

// configurations writes the configuration of a terminal that sells through this backend, with credentials of its own.
func configurations(cfg Config, db store.DB) func(string, fleet.Slot) (string, error) {
	return func(id string, s fleet.Slot) (string, error) {
		if s.MerchantID == "" || s.TerminalID == "" || s.BaxID == "" {
			return "", fmt.Errorf("want merchantId, terminalId and baxId, or a configuration of your own")
		}
		if strings.ContainsAny(s.MerchantID+s.TerminalID, ":/\x1f") {
			return "", fmt.Errorf("merchantId and terminalId name the account of the terminal: want them without colon and slash")
		}
		var b strings.Builder
		section := func(name string, pairs ...string) {
			fmt.Fprintf(&b, "[%s]\n", name)
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i+1] != "" {
					fmt.Fprintf(&b, "%s = %s\n", pairs[i], tomlText(pairs[i+1]))
				}
			}
			b.WriteString("\n")
		}
		own := holder(id, s)
		section("terminal", "merchant_id", s.MerchantID, "terminal_id", s.TerminalID, "bax_id", s.BaxID)
		section("upstream", "base", cfg.PublicURL)
		section("upstream.auth", "bearer", credential(db, byBearer, own), "consumer_key", account(s), "consumer_secret", credential(db, byConsumer, own),
			"instance", account(s), "secret", credential(db, bySecret, own), "api_key", credential(db, byKey, own))
		return b.String(), nil
	}
}

// tomlText is a basic string of TOML.
func tomlText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
