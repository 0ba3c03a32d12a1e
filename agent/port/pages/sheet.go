package pages

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
)

// sheet is the one sheet, sent inline and allowed by its hash. It holds no text.
const sheet markup = `:root{color-scheme:light dark}` +
	`html{background:#fff;color:#111}` +
	`body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:.75rem;overflow-wrap:anywhere}` +
	`h1{font-size:1.375rem;margin:.5rem 0}h2{font-size:1.125rem;margin:0 0 .5rem}` +
	`section{border:1px solid #767676;border-radius:.5rem;padding:.75rem;margin:.75rem 0}` +
	`section>:last-child{margin-bottom:0}section>.wide:last-child tr:last-child>*{border:0}` +
	`.sandbox{border:2px dashed;padding:.25rem .75rem;font-weight:700;text-align:center;margin:0}` +
	`.state{font-size:1.75rem;font-weight:700;margin:0;border-left:.5rem solid;padding-left:.75rem}` +
	`.ok{color:#0a5c2b}.bad{color:#a8101f}` +
	`.alert{border-left:.5rem solid #a8101f;padding-left:.75rem}` +
	`.sum{font-size:1.75rem;font-weight:700;display:block;white-space:nowrap;font-variant-numeric:tabular-nums}` +
	`.wide{overflow-x:auto}` +
	`table{border-collapse:collapse;width:100%;font-size:.9375rem;overflow-wrap:normal}` +
	`#methods~.wide table,#audit~.wide table,#events~.wide table{min-width:44rem}` +
	`th,td{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #8888}` +
	`.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}` +
	`time{white-space:nowrap}th time{white-space:normal}` +
	`code{font:.875rem/1.5 ui-monospace,monospace}` +
	`.said{border-left:.5rem solid #0a5c2b;padding-left:.75rem}` +
	`.list{list-style:none;margin:0;padding:0}.list>li{padding:.5rem 0;border-bottom:1px solid #8888}.list p{margin:0 0 .25rem}section>.list:last-child>li:last-child{border:0}` +
	`.deeds{display:flex;flex-wrap:wrap;gap:.75rem;align-items:center;margin:.5rem 0}.deeds button,.deeds .go{margin:0}` +
	`.go{display:inline-block;box-sizing:border-box;font-weight:700;min-height:2.75rem;padding:.4375rem 1rem;border:2px solid;border-radius:.5rem}.go[aria-current=true]{border-width:4px;text-decoration:none}` +
	`fieldset{border:1px solid #767676;border-radius:.5rem;margin:.75rem 0;padding:.75rem}` +
	`.choice{display:flex;gap:.75rem;align-items:center;min-height:2.75rem}` +
	`nav a{display:inline-block;padding:.25rem .75rem .25rem 0}` +
	`a{color:#0b57d0}` +
	`label{display:block}` +
	`input,textarea{font:inherit;display:block;width:100%;max-width:30rem;box-sizing:border-box;min-height:2.75rem;padding:.25rem .5rem}` +
	`input[type=radio]{width:1.5rem;min-height:1.5rem;flex:none;margin:0}` +
	`button{font:inherit;font-weight:700;min-height:2.75rem;padding:.25rem 1rem;margin:.75rem 0 0;border:2px solid;border-radius:.5rem;cursor:pointer}` +
	`:focus-visible{outline:4px solid #1d6fe0;outline-offset:2px}` +
	`@media(prefers-color-scheme:dark){html{background:#121212;color:#eee}a{color:#a8c7fa}.ok{color:#7fdc9b}.bad{color:#ffb4ab}.alert{border-color:#ffb4ab}.said{border-color:#7fdc9b}}`

// Policy is the Content-Security-Policy of a page.
func Policy() string {
	sum := sha256.Sum256([]byte(sheet))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// Head sets the header of an answer that is a page. The port's guard sets what each answer has.
func Head(h interface{ Set(name, value string) }) {
	for _, field := range [...][2]string{
		{"Content-Type", "text/html; charset=utf-8"}, {"Content-Security-Policy", Policy()}, {"X-Frame-Options", "DENY"},
		{"Cross-Origin-Opener-Policy", "same-origin"}, {"Cross-Origin-Resource-Policy", "same-origin"}, {"Vary", "Accept-Language, Cookie"},
	} {
		h.Set(field[0], field[1])
	}
}

// Reload lets a page load itself again after so many seconds; 0 = it does not.
func Reload(h interface{ Set(name, value string) }, seconds int) {
	if seconds > 0 {
		h.Set("Refresh", strconv.Itoa(seconds))
	}
}
