package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"posagent/schemes/wire"
)

// signingKey reads a Standard Webhooks secret: base64 behind "whsec_", otherwise the text itself.
func signingKey(s wire.Secret) []byte {
	if text, ok := strings.CutPrefix(s.Reveal(), "whsec_"); ok {
		if key, err := base64.StdEncoding.DecodeString(text); err == nil && len(key) > 0 {
			return key
		}
	}
	return []byte(s.Reveal())
}

// signature is the value of webhook-signature: one signature per key, so that a receiver may change its secret while
// both are good.
func signature(keys [][]byte, id, timestamp string, body []byte) string {
	var list []string
	for _, key := range keys {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(id + "." + timestamp + "."))
		h.Write(body)
		list = append(list, "v1,"+base64.StdEncoding.EncodeToString(h.Sum(nil)))
	}
	return strings.Join(list, " ")
}
