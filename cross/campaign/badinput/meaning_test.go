package badinput

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Replies that are well formed and mean something odd.

// item is one definition of a method list with other members.
func item(members string) string {
	base := `"priority":1,"paymentProviderId":1,"name":"SWISH_E_COM","label":"Swish","meanDelay":1,"trigger":["QR"],"transactionTypes":["PAYMENT","REFUND","REVERSAL"],` +
		`"staleTimeOut":300,"finalizeTimeOut":300,"delayedAmount":0`
	for _, m := range strings.Split(members, ";;") {
		name, value, _ := strings.Cut(m, "=")
		quoted := `"` + name + `":`
		if i := strings.Index(base, quoted); i >= 0 {
			end := len(base)
			for _, next := range []string{`,"priority"`, `,"paymentProviderId"`, `,"name"`, `,"label"`, `,"meanDelay"`, `,"trigger"`, `,"transactionTypes"`, `,"staleTimeOut"`, `,"finalizeTimeOut"`, `,"delayedAmount"`} {
				if j := strings.Index(base[i:], next); j > 0 {
					end = min(end, i+j)
				}
			}
			base = base[:i] + quoted + value + base[end:]
		} else if name != "" {
			base += "," + quoted + value
		}
	}
	return "{" + base + "}"
}

func listScenes() []scene {
	many := make([]string, 100_000)
	for i := range many {
		many[i] = fmt.Sprintf(`{"paymentProviderId":%d,"name":"M%d"}`, i+1, i)
	}
	nine := make([]string, 5000)
	for i := range nine {
		nine[i] = strings.Replace(item(""), `"paymentProviderId":1`, fmt.Sprintf(`"paymentProviderId":%d`, i+1), 1)
	}
	var all []scene
	for _, l := range []struct {
		input string
		rare  bool
		text  string
	}{
		{"no items", false, "[]"},
		{"100,000 items", true, "[" + strings.Join(many, ",") + "]"},
		{"5,000 good items", false, "[" + strings.Join(nine[:3000], ",") + "]"},
		{"an object that is no definition", true, `{"methods":[]}`},
		{"a prompt with min 9 and max 3", true, "[" + item(`queries=[{"1":{"label":"x","min":9,"max":3}}];;txnQueryFlow=[{"transactionType":"PAYMENT","queryIds":[1],"triggers":["QR"]}]`) + "]"},
		{"unknown trigger alone", true, "[" + item(`trigger=["TELEPATHY"]`) + "]"},
		{"unknown trigger beside QR", true, "[" + item(`trigger=["TELEPATHY","QR"]`) + "]"},
		{"meanDelay -1", true, "[" + item(`meanDelay=-1`) + "]"},
		{"meanDelay 2147483647", true, "[" + item(`meanDelay=2147483647`) + "]"},
		{"meanDelay 2147483648", true, "[" + item(`meanDelay=2147483648`) + "]"},
		{"time-outs -1 and -2147483648", true, "[" + item(`staleTimeOut=-1;;finalizeTimeOut=-2147483648`) + "]"},
		{"duplicate priority and paymentProviderId", true, "[" + item("") + "," + item(`name="OTHER"`) + "]"},
		{"label of 100 KB with control characters and a line for the log", false, "[" + item(`label="\u001b[2Jx\r\nlevel=error msg=paid\u0000\u202e`+strings.Repeat("A", 100<<10)+`"`) + "]"},
		{"bgcolor that ends an attribute", true, "[" + item(`triggerParams={"Qr":{"bgcolor":"\" ; onload=alert(1)","type":"1","pushText":"<script>"}}`) + "]"},
		{"name with a path and a query in it", true, "[" + item(`name="../../status?x=1&method=#"`) + "]"},
		{"okCodes that call waiting and failing words success", true, "[" + item(`okCodes=[{"type":"PAYMENT","value":"INITIALIZED"},{"type":"PAYMENT","value":"FAILED"},{"type":"PAYMENT","value":""}]`) + "]"},
		{"a method that cannot be undone", true, "[" + item(`transactionTypes=["PAYMENT"]`) + "]"},
		{"delayedAmount 7", true, "[" + item(`delayedAmount=7`) + "]"},
	} {
		all = append(all, at("D79", l.input, onList, l.rare, same(func(x *exchange) bool {
			if strings.Contains(l.input, "meanDelay 2147483647") || strings.Contains(l.input, "-1") {
				x.b.pays(20 * time.Millisecond)
			}
			return x.reply(http.StatusOK, l.text)
		})))
	}
	return all
}

// lie adds members to the honest reply of a transaction whose wallet never pays, so that an approval is a lost sale.
func lie(members string) func(*kit) hook {
	return func(k *kit) hook {
		k.be.pays(-1)
		return func(x *exchange) bool { return x.reply(x.status, string(x.with(members))) }
	}
}

// tell adds members to the honest reply of a transaction that is paid.
func tell(members string) func(*kit) hook {
	return same(func(x *exchange) bool { return x.reply(x.status, string(x.with(members))) })
}

// refusal is the service's own no: the transaction never exists.
func refusal(status int, text string) func(*kit) hook {
	return same(func(x *exchange) bool {
		x.b.decline(x.deed)
		return x.reply(status, text)
	})
}

func meaningScenes() []scene {
	const fault = `{"valid":false,"error":{"%s":{"faults":[{"explanationText":"no\r\nlevel=error msg=paid \u001b]8;;http://x\u0007","params":{"a":1,"b":null}}]},"message":null},"response":null}`
	all := []scene{
		at("D71", "400 with componsiteFault and a line for the log in it", onInitialize, false, refusal(400, fmt.Sprintf(fault, "componsiteFault"))),
		at("D71", "422 with compositeFault", onInitialize, true, refusal(422, fmt.Sprintf(fault, "compositeFault"))),
		at("D71", "400 with both spellings at once", onInitialize, true, refusal(400, `{"valid":false,"error":{"compositeFault":{"faults":[]},"componsiteFault":{"faults":[null]}}}`)),
		at("D71", "400 with componsiteFault", onStatus, true, same(func(x *exchange) bool { return x.reply(400, fmt.Sprintf(fault, "componsiteFault")) })),
		at("D71", "409 with compositeFault", onReversal, true, same(func(x *exchange) bool {
			if x.n > 2 {
				return false
			}
			return x.reply(409, fmt.Sprintf(fault, "compositeFault"))
		})),
		at("D72", "unknown responseCode 4711 with 202", onInitialize, false, tell(`{"response":{"responseCode":4711,"extendedResponseCode":-9}}`)),
		at("D72", "responseCode 1, again and again", onInitialize, true, tell(`{"response":{"responseCode":1,"extendedResponseCode":0}}`)),
		at("D72", "unknown state without COMMIT", onStatus, true, lie(`{"state":"PAID_AND_SETTLED","accountState":""}`)),
		at("D72", "unknown accountState", onStatus, true, lie(`{"state":"FINALIZED","accountState":"MAYBE"}`)),
		at("D72", "state in lower case with COMMIT in lower case", onStatus, false, lie(`{"state":"finalized","accountState":"commit"}`)),
		at("D72", "state of 100 KB", onStatus, true, lie(`{"state":"`+strings.Repeat("S", 100<<10)+`"}`)),
		at("D72", "FINALIZED with ROLLBACK", onStatus, true, lie(`{"state":"FINALIZED","accountState":"ROLLBACK"}`)),
		at("D72", "FINALIZED without an account state, state in the receipt", onStatus, true, lie(`{"state":"FINALIZED","accountState":"","receipt":{"state":"COMMIT"}}`)),
		at("D72", "valid:false beside FINALIZED and COMMIT of a paid one", onStatus, true, tell(`{"valid":false}`)),
		at("D73", "201 and valid:true", onInitialize, false, same(func(x *exchange) bool { return x.reply(201, string(x.good)) })),
		at("D73", "202 and valid:false", onInitialize, true, tell(`{"valid":false}`)),
		at("D73", "200 instead of 202", onInitialize, true, same(func(x *exchange) bool { return x.reply(200, string(x.good)) })),
		at("D73", "202 with responseCode -1", onInitialize, true, tell(`{"valid":false,"response":{"responseCode":-1,"extendedResponseCode":0}}`)),
		at("D73", "201 with responseCode -3", onInitialize, true, same(func(x *exchange) bool {
			return x.reply(201, string(x.with(`{"response":{"responseCode":-3,"extendedResponseCode":0}}`)))
		})),
		at("D73", "200 for the reversal", onReversal, true, same(func(x *exchange) bool { return x.n < 3 && x.reply(200, string(x.good)) })),
		at("D74", "another amount in the receipt", onStatus, false, tell(`{"receipt":{"amount":999999,"currency":"EUR"}}`)),
		at("D74", "another currency in the receipt", onStatus, true, tell(`{"receipt":{"amount":1001,"currency":"JPY"}}`)),
		at("D74", "amounts as text, NaN and negative", onStatus, true, tell(`{"receipt":{"amount":"1e9","currency":-1,"time":{}}}`)),
		at("D75", "COMMIT of another transaction, by transactionId and ppref", onStatus, false,
			lie(`{"transactionId":999,"naa2Ecr":{"ppref":"P999"},"receipt":{"reference":"somebody-else"},"state":"FINALIZED","accountState":"COMMIT"}`)),
		at("D75", "COMMIT of another transaction, by ppref alone", onStatus, true,
			lie(`{"transactionId":0,"naa2Ecr":{"ppref":"P999"},"receipt":null,"state":"FINALIZED","accountState":"COMMIT"}`)),
		at("D75", "COMMIT of another transaction from the second read on", onStatus, false, func(k *kit) hook {
			k.be.pays(-1)
			return func(x *exchange) bool {
				return x.n > 1 && x.reply(200, string(x.with(`{"transactionId":999,"naa2Ecr":{"ppref":"P999"},"receipt":null,"state":"FINALIZED","accountState":"COMMIT"}`)))
			}
		}),
		at("D75", "the reply to another reversal, REVERSED, in place of ours", onUndoStatus, true, same(func(x *exchange) bool {
			return x.n < 3 && x.reply(200, string(x.with(`{"transactionId":999,"naa2Ecr":{"ppref":"P999"},"state":"REJECTED","accountState":""}`)))
		})),
		at("D79", "QR payload of 100 KB", onStatus, false, func(k *kit) hook {
			k.be.pays(300 * time.Millisecond)
			return func(x *exchange) bool {
				return x.reply(200, string(x.with(`{"qrCodePayload":"https://wallet.example/`+strings.Repeat("Q", 100<<10)+`"}`)))
			}
		}),
		at("D79", "QR payload with control characters and escapes", onStatus, false, func(k *kit) hook {
			k.be.pays(300 * time.Millisecond)
			return func(x *exchange) bool {
				return x.reply(200, string(x.with(`{"qrCodePayload":"https://x\r\n\u001b[2J\u0007\u0000<svg onload=1>"}`)))
			}
		}),
		at("D79", "another QR payload with every read", onStatus, true, func(k *kit) hook {
			k.be.pays(300 * time.Millisecond)
			return func(x *exchange) bool {
				return x.reply(200, string(x.with(fmt.Sprintf(`{"qrCodePayload":"https://wallet.example/%d"}`, x.n))))
			}
		}),
	}
	for _, s := range []spot{onInitialize, onStatus} {
		all = append(all, at("D80", "nextLink.uri of an attacker", s, s == onStatus, func(k *kit) hook {
			d := newDecoy(k.t)
			k.after = append(k.after, func() {
				if v := d.visits(); len(v) > 0 {
					k.bad("followed nextLink: %v", v)
				}
			})
			return func(x *exchange) bool {
				return x.reply(x.status, string(x.with(fmt.Sprintf(`{"nextLink":{"type":"GET","rel":"next","uri":%q,"params":{"n":1},"uriBuilder":{"host":[]}}}`, d.url()+"/next"))))
			}
		}))
	}
	return all
}
