package paylinks

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/bracket"
)

// Names that carry the proof of a request.
const (
	SignatureParam = "ApiSignature"
	InstanceParam  = "instance"
	APIKeyHeader   = "X-API-KEY" // the secret itself, in place of a signature
	HookHeader     = "X-Webhook-Signature"
)

// Sign works out the ApiSignature of a request's parameters (S1 5): the pairs in the order sent, without ApiSignature and
// instance, written with + for spaces (RFC 1738), HMAC-SHA256 under the secret, Base64. Files are not signed.
func Sign(secret wire.Secret, sent bracket.Form) string {
	return sign(secret, sent.Without(SignatureParam, InstanceParam).EncodeRFC1738())
}

func sign(secret wire.Secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret.Reveal()))
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// verify says whether a request's one signature is right. bare allows that of the empty text too, which S1 5 wants of requests
// with no payload, where a route and its id say everything. A + of a Base64 that was not escaped arrives as a space.
func verify(secret wire.Secret, sent bracket.Form, bare bool) bool {
	given := sent.Values(SignatureParam)
	if len(given) != 1 || secret == "" {
		return false
	}
	got := strings.ReplaceAll(given[0], " ", "+")
	ok := same(got, Sign(secret, sent))
	if bare {
		ok = same(got, sign(secret, "")) || ok
	}
	return ok
}

// bare says that nothing but instance, signature and id was sent.
func bare(sent bracket.Form, id int64) bool {
	for _, p := range sent.Without(SignatureParam, InstanceParam) {
		if p.Name != "id" || p.Value != strconv.FormatInt(id, 10) {
			return false
		}
	}
	return true
}

// same compares in a time that tells nothing, not even the length.
func same(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// SignHook gives a webhook's X-Webhook-Signature: the lower-case hex HMAC-SHA256 of the raw body.
func SignHook(key wire.Secret, body []byte) string {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// VerifyHook checks one. No key, no signature is right.
func VerifyHook(key wire.Secret, body []byte, signature string) bool {
	return same(signature, SignHook(key, body)) && key != ""
}
