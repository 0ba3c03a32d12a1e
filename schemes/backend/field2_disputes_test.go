package backend_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/backendtest"
	"posagent/schemes/disputes"
)

// TestField2_S6EachDocumentIsTakenOrNamed: a document that cannot be read is named with its place and the reason, and the others are
// taken: 01. The kind: each reason for which a document is not taken, at a create and at an update, through the backend and through a
// client's way in between.
func TestField2_S6EachDocumentIsTakenOrNamed(t *testing.T) {
	b, base, _ := desk(t, t.TempDir())
	list := `[{"documentID":"a","documentBinary":"YQ=="},{"documentID":"bad","documentBinary":"@@@"},{"documentID":"url","documentBinary":"-_-_"},` +
		`{"documentID":"none","documentBinary":""},{"documentID":"a","documentBinary":"Yg=="},{"documentID":"kind","mimeType":"x","documentBinary":"Yg=="},{"documentID":"b","documentBinary":"Yg=="}]`
	want := []string{
		"bad documentsList[1]: documentBinary is not Base64", "url documentsList[2]: documentBinary is not Base64", "none documentsList[3]: the document is empty",
		"a documentsList[4]: there is a document of this id", "kind documentsList[5]: mimeType is none",
	}
	send := func(method, url, body string) map[string]any {
		req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", demoBearer)
		req.Header.Set("Content-Type", disputes.ContentType)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		var text bytes.Buffer
		_, err = text.ReadFrom(resp.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, resp.StatusCode, text.String())
		var out map[string]any
		require.NoError(t, json.Unmarshal(text.Bytes(), &out))
		return out
	}
	named := func(out map[string]any) (got []string) {
		require.Equal(t, "01", out["responseCode"], "%v", out)
		for _, e := range out["documentsErrorList"].([]any) {
			got = append(got, e.(map[string]any)["documentID"].(string)+" "+e.(map[string]any)["documentErrorText"].(string))
		}
		return got
	}
	between := newBetween(t, base)
	for name, at := range map[string]string{"the backend": base, "a client in between": between} {
		bought := backendtest.Buyer(b, backendtest.Visa)(t, 1250)
		out := send(http.MethodPost, at+"/api/v1/disputes", `{"providerTransactionID":"`+bought.ID+`","providerFraudReasonCode":"F001","documentsList":`+list+`}`)
		require.Equal(t, want, named(out), name)
		out = send(http.MethodPatch, at+"/api/v1/disputes/"+out["disputeCaseNumber"].(string), `{"documentsList":`+strings.ReplaceAll(strings.ReplaceAll(list, `"a"`, `"c"`), `"b"`, `"d"`)+`}`)
		require.Len(t, named(out), len(want), name)
	}
}

// newBetween serves the contract by a client of a backend, as a terminal's local port does.
func newBetween(t *testing.T, base string) string {
	c := &disputes.Client{BaseURL: base, Doer: bearer{http.DefaultClient, demoBearer}, Dir: t.TempDir()}
	srv := httptest.NewServer(disputes.Handler(c, c, disputes.HandlerOptions{Dir: t.TempDir()}))
	t.Cleanup(srv.Close)
	return srv.URL
}
