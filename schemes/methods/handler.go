package methods

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"posagent/schemes/wire"
)

// Prefix is the service's path; {baxId}/{terminalId} follow (S1 4.4).
const Prefix = "/ms/naa/terminal/method/list/"

// HandlerOptions adjusts a Handler. The zero value works.
type HandlerOptions struct {
	Log *slog.Logger // gets internal errors; nil drops them
}

// Handler serves svc at Prefix. Authentication, Host checks and time limits are the caller's.
func Handler(svc Service, opts HandlerOptions) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pieces, ok := wire.Segments(r, Prefix)
		if !ok || len(pieces) != 2 {
			wire.WriteNoRoute(w, ContentType)
			return
		}
		if r.Method != http.MethodGet {
			wire.WriteMethodNotAllowed(w, ContentType, http.MethodGet)
			return
		}
		fail := func(err error) { wire.WriteFault(w, opts.Log, ContentType, wire.AsError(opList, err)) }
		q, err := queryOf(r, pieces)
		if err != nil {
			fail(err)
			return
		}
		defs, err := svc.List(r.Context(), q)
		if err != nil {
			fail(err)
			return
		}
		out := make([]Definition, len(defs))
		for i, d := range defs {
			if d.TransactionTypes == nil {
				d.TransactionTypes = []TransactionType{}
			}
			if d.Trigger == nil {
				d.Trigger = []Trigger{}
			}
			out[i] = d
		}
		wire.Reply(w, opts.Log, opList, http.StatusOK, ContentType, out)
	})
}

func queryOf(r *http.Request, pieces []string) (Query, error) {
	values := r.URL.Query()
	q := Query{BaxID: pieces[0], TerminalID: pieces[1], Caller: values.Get("caller"), Lang: values.Get("lang")}
	for _, name := range []string{"exclude", "caller", "lang"} {
		if len(values[name]) > 1 {
			return q, invalid("%s: given more than once", name)
		}
	}
	if list := values.Get("exclude"); list != "" {
		for item := range strings.SplitSeq(list, ",") {
			id, err := strconv.ParseInt(strings.TrimSpace(item), 10, 32)
			if err != nil {
				return q, invalid("exclude: want payment provider ids separated by commas")
			}
			if q.Exclude = append(q.Exclude, int32(id)); len(q.Exclude) > MaxExclude {
				break
			}
		}
	}
	return q, q.Validate()
}
