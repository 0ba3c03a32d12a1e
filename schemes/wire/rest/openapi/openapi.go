package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

// Document is what a server is described by.
type Document struct {
	Title, About, Version string
	Server                string // address of the server: "http://127.0.0.1:8480"
	Stores                bool   // a write may be stored and answered 202 before the backend has answered it
	Proofs                []Proof
	Groups                []Group
}

// Proof is a way in which a caller proves who it is.
type Proof struct {
	Name   string `json:"-"`
	Type   string `json:"type"` // "http" or "apiKey"
	Scheme string `json:"scheme,omitempty"`
	In     string `json:"in,omitempty"`
	Field  string `json:"name,omitempty"` // header or parameter
	About  string `json:"description,omitempty"`
}

// Group is the endpoints of a service.
type Group struct {
	Name    string
	About   string
	Prefix  string
	Infos   []rest.Info
	Proofs  []string // names of proofs, one of which is enough; nil = none is wanted
	Sends   string   // content type of request bodies; "" = application/json
	Reply   string   // content type of replies that are not Text, Page or Stream; "" = application/json
	Header  []Header // wanted of every request
	Needs   []string // parameters of the query that must be there
	Refusal Refusal  // how it refuses
	Types   map[reflect.Type]Type
	Words   map[reflect.Type]Words
	Also    []int // statuses that its endpoints refuse with besides
}

// Words are the words that fields of a struct may have, by the fields' names in JSON.
type Words map[string][]string

// Header is a header of requests.
type Header struct{ Name, About, Example string }

// Refusal is the shape in which a group refuses.
type Refusal struct {
	Name     string               // of its schema
	Type     string               // content type; "" = application/json
	Body     any                  // a value of its type
	Example  func(status int) any // an example of the body
	Conflict int                  // status of what the state of a thing forbids, beside 422; 0 = none
}

// Type describes a type whose wire form reflection does not show: its schema and an example, as JSON.
type Type struct{ Schema, Example string }

// The replies that are no JSON.
type (
	Text   string // text/plain
	Page   string // text/html
	Stream string // text/event-stream
)

// Any is a reply of which nothing is known but that it is JSON.
type Any = json.RawMessage

type object = map[string]any

// JSON writes the document. The error is that of a type or an example that cannot be written.
func (d Document) JSON() (data []byte, err error) {
	shared := map[string]bool{}
	for again := true; again && err == nil; { // once more where types were found that have one name
		data, again, err = d.write(shared)
	}
	return data, err
}

func (d Document) write(shared map[string]bool) (data []byte, again bool, err error) {
	s := schemas{defs: object{}, types: map[reflect.Type]Type{}, words: map[reflect.Type]Words{}, called: map[string]reflect.Type{}, shared: shared}
	for _, g := range d.Groups {
		maps.Copy(s.types, g.Types)
		maps.Copy(s.words, g.Words)
	}
	for _, s.reply = range []bool{false, true} { // requests first: they have the weaker rules
		for _, g := range d.Groups {
			for _, i := range g.Infos {
				if s.reply && i.Out != nil {
					s.of(i.Out)
				} else if !s.reply && i.HasBody {
					s.of(bodyOf(i.In))
				}
			}
		}
	}
	paths, tags, responses := map[string]object{}, []object{}, object{}
	names := d.names()
	for _, g := range d.Groups {
		tags = append(tags, object{"name": g.Name, "description": cmp.Or(g.About, g.Name)})
		for _, i := range g.Infos {
			path := g.path(i)
			if paths[path] == nil {
				paths[path] = object{}
			}
			op, err := d.operation(&s, g, i, responses)
			if err != nil {
				return nil, false, fmt.Errorf("openapi: %s: %w", i.Op, err)
			}
			op["operationId"] = names[i.Method+" "+path]
			paths[path][strings.ToLower(i.Method)] = op
		}
	}
	proofs := object{}
	for _, p := range d.Proofs {
		proofs[p.Name] = p
	}
	data, err = json.Marshal(object{
		"openapi": "3.1.0", "info": object{"title": d.Title, "version": cmp.Or(d.Version, "0"), "description": d.About},
		"servers": []object{{"url": cmp.Or(d.Server, "/")}}, "tags": tags, "paths": paths,
		"components": object{"securitySchemes": proofs, "schemas": s.defs, "responses": responses},
	})
	return data, s.again, err
}

// path is where an endpoint is, without a slash at its end.
func (g Group) path(i rest.Info) string { return cmp.Or(strings.TrimRight(g.Prefix+i.Path, "/"), "/") }

// Routes lists what the document describes, as "GET /api/v1/payments/{paymentId}".
func (d Document) Routes() (list []string) {
	for _, g := range d.Groups {
		for _, i := range g.Infos {
			list = append(list, i.Method+" "+g.path(i))
		}
	}
	slices.Sort(list)
	return list
}

// names gives each route its operationId: the endpoint's name, and where several have that name, what ends their paths as well.
func (d Document) names() map[string]string {
	count, names := map[string]int{}, map[string]string{}
	for _, g := range d.Groups {
		for _, i := range g.Infos {
			count[i.Op]++
		}
	}
	for _, g := range d.Groups {
		for _, i := range g.Infos {
			name, path := i.Op, g.path(i)
			if last := path[strings.LastIndexByte(path, '/')+1:]; count[i.Op] > 1 && !strings.HasPrefix(last, "{") {
				name += "." + last
			}
			names[i.Method+" "+path] = name
		}
	}
	return names
}

// operation describes one endpoint.
func (d Document) operation(s *schemas, g Group, i rest.Info, shared object) (object, error) {
	op := object{"tags": []string{g.Name}, "summary": i.What, "security": security(g.Proofs)}
	if params := g.parameters(i); len(params) > 0 {
		op["parameters"] = params
	}
	if i.HasBody {
		typ := bodyOf(i.In)
		s.reply = false
		example, err := s.request(typ, i.Example)
		if err != nil {
			return nil, err
		}
		op["requestBody"] = object{
			"required": i.Wants&rest.MayBody == 0,
			"content":  object{cmp.Or(g.Sends, "application/json"): object{"schema": s.of(typ), "example": example}},
		}
	}
	s.reply = true
	answers := object{}
	answers[strconv.Itoa(i.Status)] = s.answer("done", g, i, false)
	if _, states := statusOf(i.Out); states {
		for _, also := range i.Also {
			answers[strconv.Itoa(also)] = s.answer("done, in another way: see the service", g, i, false)
		}
	}
	if i.Pends && d.Stores {
		stored := s.answer("stored, not yet answered by the backend; Location names the operation", g, i, true)
		stored["headers"] = object{"Location": object{"description": "where the operation is read", "schema": object{"type": "string", "format": "uri-reference"}}}
		answers["202"] = stored
	}
	for _, status := range g.refuses(i) {
		name := g.Refusal.Name + "." + strconv.Itoa(status)
		if shared[name] == nil {
			shared[name] = g.Refusal.describe(s, status)
		}
		answers[strconv.Itoa(status)] = object{"$ref": "#/components/responses/" + name}
	}
	answers["default"] = g.Refusal.describe(s, 0)
	op["responses"] = answers
	return op, nil
}

func security(names []string) []object {
	list := []object{}
	for _, name := range names {
		list = append(list, object{name: []string{}})
	}
	return list
}

// parameters lists what stands in the address and in the header.
func (g Group) parameters(i rest.Info) (list []object) {
	for _, p := range i.Params {
		schema := object{"type": "string"}
		switch kind := p.Type.Kind(); {
		case kind == reflect.Int64 || kind == reflect.Int32:
			schema = object{"type": "integer", "format": kind.String(), "minimum": 1}
		case kind == reflect.String && p.Max > 0:
			schema["minLength"], schema["maxLength"] = 1, p.Max
		}
		list = append(list, object{
			"name": p.Name, "in": p.Place, "required": p.Place == "path" || slices.Contains(g.Needs, p.Name), "schema": schema,
			"example": valueOf(p.Name, p.Type),
		})
	}
	if i.Write() {
		list = append(list, object{
			"name": wire.KeyHeader, "in": "header", "required": i.Wants&rest.NeedsKey != 0, "example": exampleKey,
			"description": "made by the caller before its first try; the same call under the same key has one effect and one answer",
			"schema":      object{"type": "string", "minLength": 1, "maxLength": 64},
		})
	}
	for _, h := range g.Header {
		list = append(list, object{
			"name": h.Name, "in": "header", "required": true, "description": h.About, "example": h.Example, "schema": object{"type": "string"},
		})
	}
	return list
}

// answer describes a success.
func (s *schemas) answer(what string, g Group, i rest.Info, pending bool) object {
	out := object{"description": what}
	if i.Out == nil {
		return out
	}
	kind := cmp.Or(g.Reply, "application/json")
	switch i.Out {
	case reflect.TypeFor[Text]():
		kind = "text/plain"
	case reflect.TypeFor[Page]():
		kind = "text/html"
	case reflect.TypeFor[Stream]():
		kind = "text/event-stream"
	}
	out["content"] = object{kind: object{"schema": s.of(i.Out), "example": s.example(i.Out, "", pending, 0)}}
	return out
}

// refuses lists the statuses that an endpoint refuses with.
func (g Group) refuses(i rest.Info) (list []int) {
	if g.Refusal.Body == nil {
		return nil
	}
	list = []int{400, 429, 500, 503}
	if len(g.Proofs) > 0 {
		list = append(list, 401, 403)
	}
	if len(i.Params) > 0 {
		list = append(list, 404)
	}
	if i.Write() {
		list = append(list, 413, 422, 504)
		if g.Refusal.Conflict != 0 {
			list = append(list, g.Refusal.Conflict)
		}
	}
	list = append(list, g.Also...)
	slices.Sort(list)
	return slices.Compact(list)
}

// meanings says what a status means to a caller.
var meanings = map[int]string{
	0:   "refused",
	400: "the request breaks a rule; nothing happened",
	401: "no credential, or not a good one",
	403: "the credential does not allow it; nothing happened",
	404: "no such thing",
	409: "the state of the thing forbids it; nothing happened",
	413: "the body is too large; nothing happened",
	422: "the Idempotency-Key was used with another body, or the state of the thing forbids it; nothing happened",
	429: "too many requests; Retry-After says when to come back",
	500: "internal error; of a write the effect is not known",
	503: "not available now: provably not sent, or refused before any effect; Retry-After says when to come back",
	504: "the effect is not known: read it, or send the same call again under the same Idempotency-Key",
}

// describe describes a refusal; status 0 is any other.
func (r Refusal) describe(s *schemas, status int) object {
	out := object{"description": meanings[status]}
	if r.Body == nil {
		out["content"] = object{cmp.Or(r.Type, "text/plain"): object{"schema": object{"type": "string"}}}
		return out
	}
	was := s.reply
	s.reply = true
	media := object{"schema": s.of(reflect.TypeOf(r.Body))}
	s.reply = was
	if r.Example != nil {
		media["example"] = r.Example(cmp.Or(status, 400))
	}
	out["content"] = object{cmp.Or(r.Type, "application/json"): media}
	if status == 429 || status == 503 {
		out["headers"] = object{"Retry-After": object{"description": "seconds", "schema": object{"type": "integer", "minimum": 0}}}
	}
	return out
}
