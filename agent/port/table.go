package port

import (
	"net/http"

	"posagent/schemes/contracts"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/rest/openapi"
)

// HooksPath is where webhooks arrive.
const HooksPath = "/hooks/webhooks"

// routes serves everything of the table. Streams of events end with ended.
func (o Options) routes(g *gateway, ended <-chan struct{}) http.Handler {
	doc := newDocument(g.auth, o.Version, o.Listener)
	doc.mounts = o.table(g, doc, ended)
	return g.route(doc.mounts)
}

// table is everything the port serves.
func (o Options) table(g *gateway, doc *document, ended <-chan struct{}) []mount {
	const get = http.MethodGet
	list := []mount{{
		Group: openapi.Group{Name: "probes", About: "For supervisors and tools.", Infos: []rest.Info{
			contracts.Describe[struct{}, openapi.Text]("probes.live", "the daemon runs", get, "/livez", 0),
			contracts.Describe[struct{}, openapi.Text]("probes.ready", "a register may ask for a sale", get, "/readyz", 0),
			contracts.Describe[struct{}, openapi.Any]("probes.openapi", "this document", get, "/openapi.json", 0),
		}},
		own: map[string]http.HandlerFunc{"/livez": newLane(g.auth, o.Live).serve, "/readyz": newLane(g.auth, o.Ready).serve, "/openapi.json": g.public(doc.serve)},
	}}
	if o.Pages != nil {
		const path = PayPath + "{paymentId}"
		list = append(list, mount{
			Group: openapi.Group{Name: "payment pages", About: "For a customer's browser.", Infos: []rest.Info{
				contracts.Describe[ofPayment, openapi.Page]("pages.pay", "the page of a stored payment: the shop is offline, or the way on to the backend's page", get, path, 0),
			}},
			own: map[string]http.HandlerFunc{path: g.public(o.Pages.ServeHTTP)},
		})
	}
	if o.Display != nil {
		list = append(list, (&shown{g.auth, o.Display, make(chan struct{}, maxDisplays), ended}).mount())
	}
	if o.Hooks != nil {
		list = append(list, mount{
			Group: contracts.Webhooks(HooksPath, byHook), at: []string{HooksPath},
			handler: http.MaxBytesHandler(selfProving(o.Hooks), wire.MaxRequest),
		})
	}
	if o.Token == "" {
		return list
	}
	if o.House != nil {
		e := &events{g.auth, o.House, make(chan struct{}, maxStreams), ended}
		t := &terminalRoutes{g.auth, o.House, e}
		if o.Sales != nil {
			list = append(list, t.sales(o.Sales)...)
		}
		list = append(list, t.mount(), newPage(g.auth, o.House, o.Person, o.Ready, o.Listener.Addr()).mount())
	}
	own := map[string]http.HandlerFunc{}
	for _, i := range contracts.Access().Infos {
		own[i.Path] = selfProving(http.HandlerFunc(g.token)).ServeHTTP
	}
	list = append(list, mount{Group: contracts.Access(), own: own})
	for _, s := range o.Services {
		list = append(list, s.mount(g))
	}
	return list
}

// ofPayment names the payment of a page.
type ofPayment struct {
	ID string `path:"paymentId" json:"-"`
}
