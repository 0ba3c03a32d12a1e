package disputestest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/disputes"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// raw sends one request as it stands; header names and values alternate.
func (r *run) raw(t *testing.T, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	typ := ""
	if body != "" {
		typ = disputes.ContentType
	}
	return r.Wire.Raw(t, method, path, typ, body, header...)
}

// fields reads a 200.
func fields(t *testing.T, resp *http.Response, body string) map[string]any {
	t.Helper()
	require.Equal(t, http.StatusOK, resp.StatusCode, body)
	require.Equal(t, disputes.ContentType, resp.Header.Get("Content-Type"))
	require.Equal(t, "no-store", resp.Header.Get("Cache-Control"))
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(body), &got))
	return got
}

func (r *run) body(t *testing.T, p Purchase) string {
	t.Helper()
	data, err := wire.Encode(r.request(t, p))
	require.NoError(t, err)
	return string(data)
}

const at = "/api/v1/disputes"

func (r *run) wire(t *testing.T) {
	t.Run("every spelling of a path", func(t *testing.T) {
		number := ""
		for _, path := range []string{at, at + "/", "/API/v1/Disputes"} {
			resp, body := r.raw(t, http.MethodPost, path, r.body(t, r.buy(t)))
			got := fields(t, resp, body)
			require.Len(t, got, 8)
			require.Equal(t, "00", got["responseCode"])
			require.Equal(t, []any{}, got["documentsErrorList"])
			number = got["disputeCaseNumber"].(string)
		}
		for _, path := range []string{at + "/list", at + "/List/"} {
			resp, body := r.raw(t, http.MethodPost, path, `{"disputeCaseNumber":"`+number+`"}`)
			got := fields(t, resp, body)
			require.EqualValues(t, 1, got["numberOfDisputeCases"])
			require.Len(t, got["disputeCaseList"].([]any)[0], 32)
		}
		for _, path := range []string{at + "/list-cases-by-queue", at + "/LIST-CASES-BY-QUEUE/"} {
			resp, body := r.raw(t, http.MethodPost, path, `{"queueID":7000,"later":{"version":3},"additionalInformationList":null}`)
			require.Equal(t, "Issuer Disputes", fields(t, resp, body)["queueName"])
		}
		resp, body := r.raw(t, http.MethodPatch, at+"/"+number, `{"closeDispute":"Y"}`)
		require.Equal(t, map[string]any{"responseCode": "00", "errorCode": "", "errorText": "", "documentsErrorList": []any{}}, fields(t, resp, body))
		resp, body = r.raw(t, http.MethodGet, at+"/key", "")
		require.Equal(t, r.key.PEM, fields(t, resp, body)["publicKey"])
	})
	t.Run("documents as clients write them", func(t *testing.T) {
		text := "subject?\xfb\xff\xfe/" // its Base64 has both letters that are escaped
		plain := base64.StdEncoding.EncodeToString([]byte(text))
		require.True(t, strings.ContainsAny(plain, "+/"))
		for name, b64 := range map[string]string{
			"plain": plain, "escaped slashes": strings.ReplaceAll(plain, "/", `\/`), "escaped plus": strings.ReplaceAll(plain, "+", `\u002B`), "lines": plain[:4] + `\r\n` + plain[4:],
		} {
			p := r.buy(t)
			body := strings.TrimSuffix(r.body(t, p), "}") + `,"documentsList":[ {"documentID" : "` + p.ID + `", "documentBinary" :"` + b64 + `","documentType":null} ]}`
			resp, got := r.raw(t, http.MethodPost, at, body)
			require.Equal(t, "00", fields(t, resp, got)["responseCode"], name)
			resp, got = r.raw(t, http.MethodGet, at+"/document/"+p.ID+"?encoding=UTF-8&sizeLimit=100", "")
			answer := fields(t, resp, got)
			require.Len(t, answer, 8)
			require.Equal(t, map[string]any{"encoding": "base64", "length": float64(len(text)), "content": plain}, answer["inputStream"], name)
			require.Equal(t, p.ID, answer["filename"])
			require.Equal(t, true, answer["readable"])
			require.EqualValues(t, resp.ContentLength, len(got))
			for _, part := range []string{"file", "uri", "url"} {
				require.NotEmpty(t, answer[part])
			}
		}
	})
	t.Run("documents that cannot be read", func(t *testing.T) {
		p := r.buy(t)
		list := `{"documentID":"bad","documentBinary":"%%%%"},{"documentID":"` + p.ID + `","documentBinary":"YQ=="},{"documentID":"cut","documentBinary":"YWI"},` +
			`{"documentID":"after","documentBinary":"YQ==YQ=="},{"documentID":"escaped","documentBinary":"YQ\t\"\u20ac=="},{"documentBinary":""}`
		resp, got := r.raw(t, http.MethodPost, at, strings.TrimSuffix(r.body(t, p), "}")+`,"documentsList":[`+list+`]}`)
		answer := fields(t, resp, got)
		require.Equal(t, "01", answer["responseCode"])
		var refused []string
		for _, e := range answer["documentsErrorList"].([]any) {
			e := e.(map[string]any)
			require.Equal(t, answer["disputeCaseNumber"], e["claimID"])
			refused = append(refused, e["documentID"].(string)+" "+e["documentErrorCode"].(string)+" "+e["documentErrorText"].(string))
		}
		require.Equal(t, []string{
			"bad DOC0005E documentsList[0]: documentBinary is not Base64", "cut DOC0005E documentsList[2]: documentBinary is not Base64",
			"after DOC0005E documentsList[3]: documentBinary is not Base64", "escaped DOC0005E documentsList[4]: documentBinary is not Base64",
			" DOC0001E documentsList[5]: the document is empty",
		}, refused)
		require.Len(t, r.read(t, answer["disputeCaseNumber"].(string)).Documents, 1)
	})
	t.Run("operator's spelling", func(t *testing.T) {
		body := strings.Replace(r.body(t, r.buy(t)), "providerDisputeReasonCode", "netsDisputeReasonCode", 1)
		resp, got := r.raw(t, http.MethodPost, at, body)
		number := fields(t, resp, got)["disputeCaseNumber"].(string)
		require.Equal(t, "D002", r.read(t, number).Reasons[0].Operator)
		resp, got = r.raw(t, http.MethodPost, at, strings.Replace(body, `"netsDisputeReasonCode"`, `"providerDisputeReasonCode":"D009","netsDisputeReasonCode"`, 1))
		wiretest.Problem(t, resp, got, 400, "netsDisputeReasonCode")
	})
	t.Run("refusals of S1 7", func(t *testing.T) {
		body := strings.Replace(r.body(t, r.buy(t)), `"transactionDate":"`, `"transactionDate":"x`, 1)
		resp, got := r.raw(t, http.MethodPost, at, body)
		answer := fields(t, resp, got)
		require.Equal(t, "99", answer["responseCode"])
		require.Equal(t, "DIS0012E", answer["disputeErrorCode"])
		require.Contains(t, answer["disputeErrorCodeText"], "Invalid date; expected format yyyy-MM-dd")
		require.Equal(t, "issuer-tx-1", answer["issuerTransactionID"])
		resp, got = r.raw(t, http.MethodPost, at+"/list", "{}")
		answer = fields(t, resp, got)
		require.Equal(t, []any{"99", "DIS0004E", "N", []any{}}, []any{answer["responseCode"], answer["disputeErrorCode"], answer["moreDisputeFlag"], answer["disputeCaseList"]})
		resp, got = r.raw(t, http.MethodPost, at+"/list-cases-by-queue", "{}")
		require.Equal(t, "DIS0004E", fields(t, resp, got)["errorCode"])
		resp, got = r.raw(t, http.MethodPatch, at+"/500001", "{}")
		require.Equal(t, "DIS0004E", fields(t, resp, got)["errorCode"])
	})
	t.Run("bodies", r.bodies)
	t.Run("methods and routes", func(t *testing.T) {
		for _, c := range []struct {
			method, path, allow string
		}{
			{"GET", at, "POST"}, {"PUT", at, "POST"}, {"GET", at + "/list", "POST"}, {"POST", at + "/document/x", "GET"}, {"GET", at + "/7", "PATCH"},
			{"DELETE", at + "/7", "PATCH"}, {"POST", at + "/key", "GET"}, {"GET", at + "/list-cases-by-queue", "POST"},
		} {
			resp, body := r.raw(t, c.method, c.path, "")
			wiretest.Problem(t, resp, body, 405, "")
			require.Equal(t, c.allow, resp.Header.Get("Allow"))
		}
		for _, path := range []string{at + "/7/close", at + "/document/a/b", at + "/list/x"} {
			resp, body := r.raw(t, "POST", path, "{}")
			wiretest.Problem(t, resp, body, 404, "")
		}
		for _, q := range []string{"0", "-1", "ten", "1e3", "99999999999999999999", "+1"} {
			resp, body := r.raw(t, "GET", at+"/document/x?sizeLimit="+strings.ReplaceAll(q, "+", "%2B"), "")
			wiretest.Problem(t, resp, body, 400, "sizeLimit")
		}
	})
}

func (r *run) bodies(t *testing.T) {
	p := r.buy(t)
	good := r.body(t, p)
	with := func(documents string) string {
		return strings.TrimSuffix(good, "}") + `,"documentsList":` + documents + "}"
	}
	for _, c := range []struct {
		name, body, names string
		status            int
	}{
		{"empty", "", "", 400},
		{"null", "null", "", 400},
		{"cut", good[:len(good)-1], "", 400},
		{"trailing", good + "x", "", 400},
		{"twice", strings.TrimSuffix(good, "}") + `,"cardBlocked":"N"}`, "cardBlocked", 400},
		{"other case", strings.TrimSuffix(good, "}") + `,"CARDBLOCKED":"N"}`, "", 400},
		{"amount as text", strings.Replace(good, `"disputeAmount":`, `"disputeAmount":"1","x":`, 1), "disputeAmount", 400},
		{"document without content", with(`[{"documentID":"d"}]`), "documentsList[0].documentBinary", 400},
		{"content null", with(`[{"documentBinary":null}]`), "documentBinary", 400},
		{"content twice", with(`[{"documentBinary":"YQ==","documentBinary":"YQ=="}]`), "documentBinary", 400},
		{"content twice, escaped", with(`[{"documentBinary":"YQ==","document\u0042inary":"YQ=="}]`), "documentBinary", 400},
		{"content of another name's case", with(`[{"DocumentBinary":"YQ=="}]`), "", 400},
		{"an escape that is none", with(`[{"documentBinary":"YQ\q=="}]`), "", 400},
		{"control character", with("[{\"documentBinary\":\"YQ==\n\"}]"), "", 400},
		{"a forged place", with(`[{"documentBinary":["#0"]}]`), "documentBinary", 400},
		{"ends in a content", with(`[{"documentBinary":"YQ==`)[:len(good)+40], "", 400},
		{"list of texts", with(`["#0"]`), "documentsList", 400},
		{"deep", `{"x":` + strings.Repeat("[", 10_000), "", 413},
		{"256 KiB beside documents", `{"x":"` + strings.Repeat("x", 256<<10) + `"}`, "", 413},
		{"above 16 MiB", with(`[{"documentBinary":"` + strings.Repeat("AAAA", 4<<20) + `"}]`), "", 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, body := r.raw(t, http.MethodPost, at, c.body, "Content-Type", disputes.ContentType)
			wiretest.Problem(t, resp, body, c.status, c.names)
		})
	}
	for _, c := range []struct{ header, value string }{
		{"Content-Type", ""}, {"Content-Type", "text/plain"}, {"Content-Type", "application/json;charset=utf-16"}, {"Content-Encoding", "gzip"}, {"Idempotency-Key", "a b"},
	} {
		for _, path := range []string{at, at + "/list"} {
			if c.header == "Idempotency-Key" && path != at {
				continue
			}
			resp, body := r.raw(t, http.MethodPost, path, good, c.header, c.value)
			wiretest.Problem(t, resp, body, 400, "")
		}
	}
	resp, body := r.raw(t, http.MethodPost, at, good)
	require.Equal(t, "00", fields(t, resp, body)["responseCode"], "nothing of all that was kept")
}
