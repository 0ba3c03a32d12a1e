package methods_test

import (
	"net/http/httptest"
	"testing"

	"posagent/schemes/methods"
	"posagent/schemes/methods/methodstest"
)

func TestConformance(t *testing.T) {
	fake := &methodstest.Fake{}
	fake.Set("B1", methodstest.QR(), methodstest.Manual())
	srv := httptest.NewServer(methods.Handler(fake, methods.HandlerOptions{}))
	defer srv.Close()
	f := methodstest.Fixture{Service: fake, BaxID: "B1", TerminalID: "T 1/ä", NoBaxID: "B2"}
	t.Run("in process", func(t *testing.T) { methodstest.Run(t, f) })
	f.Service, f.TerminalID = &methods.Client{BaseURL: srv.URL + "/", Doer: srv.Client()}, "T1"
	f.Wire = &methodstest.Wire{BaseURL: srv.URL, Doer: srv.Client()}
	t.Run("over http", func(t *testing.T) { methodstest.Run(t, f) })
}
