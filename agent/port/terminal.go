package port

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"posagent/agent/outbox"
	"posagent/agent/view"
	"posagent/schemes/contracts"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/rest/openapi"
)

// What is asked of the terminal itself.
type (
	ofNothing    struct{}
	ofOperations struct {
		Key   string `query:"key" json:"-"`
		Kind  string `query:"kind" json:"-"`
		State string `query:"state" json:"-"`
		Open  string `query:"open" json:"-"`
		After int64  `query:"after" json:"-"`
		Limit int64  `query:"limit" json:"-"`
	}
	ofOperation struct {
		Key string `path:"key" json:"-"`
	}
)

// terminalGroup describes what the terminal shows of itself.
func terminalGroup() openapi.Group {
	const get = http.MethodGet
	return openapi.Group{
		Name: "terminal", About: "The terminal itself.", Proofs: []string{contracts.ByToken}, Refusal: contracts.Problems(),
		Types: map[reflect.Type]openapi.Type{reflect.TypeFor[outbox.State](): stateType()},
		Infos: []rest.Info{
			contracts.Describe[ofNothing, view.Status]("agent.status", "one screen", get, terminalPrefix+"status", 0),
			contracts.Describe[ofNothing, view.Methods]("agent.methods", "what the terminal may be paid with", get, terminalPrefix+"methods", 0),
			contracts.Describe[ofOperations, view.Operations]("agent.operations", "what is owed to the backend, and what became of it", get, terminalPrefix+"operations", 0),
			contracts.Describe[ofOperation, view.OneOperation]("agent.operation", "one operation", get, terminalPrefix+"operations/{key}", 0),
			contracts.Describe[ofNothing, openapi.Stream]("agent.events",
				"what happens here and what arrives from the backend, as server-sent events; Last-Event-ID resumes", get, terminalPrefix+"events", 0),
			contracts.Describe[ofNothing, openapi.Text]("agent.metrics", "figures for a monitor, of all clients", get, "/metrics", 0),
		},
	}
}

// maxList is how many things a page of a list has.
const maxList = 200

// terminalRoutes serve what the terminal shows of itself.
type terminalRoutes struct {
	*auth
	daemon *view.Daemon
	events *events
}

// calmly serves a client's reads of the terminal itself, one at a time.
func (t *terminalRoutes) calmly(h http.HandlerFunc) http.HandlerFunc {
	return t.known(t.problem, func(c *client, w http.ResponseWriter, r *http.Request) {
		c.paced(w, r, t.problem, c.oneRead(t.problem, h))
	}).ServeHTTP
}

// sales makes the mounts of sales.
func (t *terminalRoutes) sales(s Sales) (list []mount) {
	reads, writes := t.calmly(s.ServeHTTP), t.authorized(t.problem, s)
	serve := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			reads(w, r)
			return
		}
		writes.ServeHTTP(w, r)
	}
	for _, g := range s.Groups() {
		m := mount{Group: g, own: map[string]http.HandlerFunc{}}
		for _, i := range g.Infos {
			m.own[i.Path] = serve
		}
		list = append(list, m)
	}
	return list
}

// mount makes the mount of /agent/v1 and /metrics.
func (t *terminalRoutes) mount() mount {
	d := t.daemon
	show := func(read func(r *http.Request) (any, error)) http.HandlerFunc {
		return t.calmly(func(w http.ResponseWriter, r *http.Request) {
			err := wire.Allow(r.Context(), "port", wire.MayRead)
			var v any
			if err == nil {
				v, err = read(r)
			}
			if err != nil {
				t.problem(w, r, wire.AsError("port", err))
				return
			}
			_ = wire.WriteJSON(w, http.StatusOK, jsonBody, v) // a lost connection has no reader
		})
	}
	return mount{
		Group: terminalGroup(), at: []string{terminalPrefix},
		handler: t.authorized(t.problem, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			allow := ""
			if r.Method != http.MethodGet && r.Method != http.MethodHead {
				allow = http.MethodGet
			}
			wire.WriteProblemNoRoute(w, r, allow)
		})),
		own: map[string]http.HandlerFunc{
			terminalPrefix + "status":  show(func(r *http.Request) (any, error) { return d.Status(r.Context()) }),
			terminalPrefix + "methods": show(func(r *http.Request) (any, error) { return d.Methods(r.Context()) }),
			terminalPrefix + "operations": show(func(r *http.Request) (any, error) {
				f, err := filter(r.URL.Query())
				if err != nil {
					return nil, err
				}
				if name := r.URL.Query().Get("key"); name != "" {
					return d.OperationsNamed(r.Context(), name)
				}
				return d.Operations(r.Context(), f)
			}),
			terminalPrefix + "operations/{key}": show(func(r *http.Request) (any, error) { return d.Operation(r.Context(), r.PathValue("key")) }),
			terminalPrefix + "events": t.known(t.problem, func(c *client, w http.ResponseWriter, r *http.Request) {
				t.events.serve(c, w, r.WithContext(wire.WithCaller(r.Context(), c.caller)))
			}).ServeHTTP,
			"/metrics": t.calmly(t.metrics),
		}}
}

// number reads a number of the query.
func number(q url.Values, name string, otherwise, least, most int64) (int64, error) {
	if len(q[name]) == 0 {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(q[name][0], 10, 64)
	if err != nil || len(q[name]) > 1 || n < least || n > most {
		return 0, wire.Errorf(wire.Invalid, "", "%s: want a number from %d to %d", name, least, most)
	}
	return n, nil
}

// states are what an operation may be in.
var states = []outbox.State{outbox.Pending, outbox.Sent, outbox.Done, outbox.Failed, outbox.Expired, outbox.Doubt, outbox.Held}

// stateType describes them.
func stateType() openapi.Type {
	list, err := json.Marshal(states)
	if err != nil {
		panic("port: " + err.Error())
	}
	return openapi.Type{Schema: `{"type":"string","enum":` + string(list) + `}`, Example: `"` + string(states[0]) + `"`}
}

func filter(q url.Values) (f outbox.Filter, err error) {
	f = outbox.Filter{Kind: q.Get("kind"), State: outbox.State(strings.ToUpper(q.Get("state"))), Open: q.Get("open") == "true"}
	if f.State != "" && !slices.Contains(states, f.State) {
		return f, wire.Errorf(wire.Invalid, "", "state: no such state, want one of %s", strings.Trim(fmt.Sprint(states), "[]"))
	}
	if open := q.Get("open"); open != "" && open != "true" && open != "false" {
		return f, wire.Errorf(wire.Invalid, "", "open: want true or false")
	}
	limit, err := number(q, "limit", 100, 1, maxList)
	if err == nil {
		f.Limit = int(limit)
		f.After, err = number(q, "after", 0, 0, 1<<62)
	}
	return f, err
}

// metrics writes the figures in the text form monitors read.
func (t *terminalRoutes) metrics(w http.ResponseWriter, r *http.Request) {
	err := wire.Allow(r.Context(), "port", wire.MayRead)
	if err == nil {
		err = wire.Everything(r.Context(), "port", "read the figures of all clients")
	}
	figures := ""
	if err == nil {
		figures, err = t.daemon.Metrics(r.Context())
	}
	if err != nil {
		t.problem(w, r, wire.AsError("port", err))
		return
	}
	b := figures + "# TYPE posagent_port_connections gauge\nposagent_port_connections " + strconv.Itoa(len(t.conns.slots)) + "\n"
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(b)) // a lost connection has no reader
}
