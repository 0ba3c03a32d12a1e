package customerpage

import (
	"crypto/sha256"
	"encoding/base64"
)

// sheet is the look of every scene; the colours of one are a sheet of its own. It holds no text.
const sheet markup = `:root{color-scheme:light}` +
	`body{margin:0;font:clamp(1.25rem,2vw,1.75rem)/1.4 system-ui,sans-serif}` +
	`.one,.two{box-sizing:border-box;min-height:100vh;padding:3vmin;display:grid;grid-template-columns:100%;align-content:center;gap:3vmin;text-align:center;overflow-wrap:anywhere}` +
	`.text{display:grid;grid-template-columns:100%;align-content:center;gap:1.5vmin;container-type:inline-size}` +
	`h1,p,ul{margin:0;padding:0}` +
	`h1{font-size:clamp(1.25rem,3.5vw,2.5rem);line-height:1.2}` +
	`.sandbox{background:#ffd500;color:#000;font-weight:700;font-size:1.25rem;padding:.25rem}` +
	// a number of 14 characters has room in one line: it is nine em wide in the widest faces
	`.amount{font-size:clamp(1.5rem,11cqw,6rem);font-weight:700;line-height:1.1;font-variant-numeric:tabular-nums}` +
	`.head{font-size:clamp(1.25rem,3vw,2.5rem);font-weight:700}` +
	`.value{font-size:clamp(1.25rem,4vw,2.5rem);font-weight:700;font-variant-numeric:tabular-nums;min-height:1.4em}` +
	`.two .note{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden}` +
	`.qr svg{display:block;margin:auto;width:min(92vw,58vh);height:auto}` +
	`ul{list-style:none;text-align:left;width:min(40rem,100%);margin:auto}li{padding:.5rem 0;font-size:1.5rem}` +
	`form{display:grid;gap:.75rem;width:min(24rem,100%);margin:1rem auto 0}` +
	`.choice{width:min(40rem,100%)}.choice button{text-align:left}.choice .word{text-align:center}` +
	`.pad{grid-template-columns:repeat(6,minmax(0,1fr));margin-top:0}.pad button{grid-column:span 2}.pad .cancel{grid-column:1/4}.pad .confirm{grid-column:4/7}` +
	`button{font:inherit;font-size:1.25rem;font-weight:700;min-height:3.5rem;padding:.25rem .5rem;background:#fff;color:#000;border:2px solid #000;border-radius:.5rem;cursor:pointer;touch-action:manipulation}` +
	`.word{font-size:clamp(.8rem,4vw,1.25rem)}` +
	`:focus-visible{outline:4px solid #000;box-shadow:0 0 0 8px #fff}` +
	`.unseen{position:absolute;top:0;left:0;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}` +
	`@media(min-width:40rem){.choice:has(:nth-child(8)){width:min(64rem,100%);grid-template-columns:repeat(2,minmax(0,1fr))}.choice .cancel{grid-column:1/-1}}` +
	`@media(min-width:40rem) and (min-aspect-ratio:1/1){.two{grid-template-columns:minmax(0,1fr) auto;column-gap:4vmin}.two .sandbox{grid-column:1/-1}` +
	`.two .qr{grid-column:2;grid-row:2/4}.two:not(:has(.sandbox)) .qr{grid-row:1/3}.two .text{grid-column:1}.two .qr svg{width:min(42vw,80vh)}` +
	`.two:has(.pad){grid-template-columns:minmax(0,1fr) min(24rem,40vw)}.two:has(.pad) .text{grid-column:auto}}`

// script follows the stream, counts down, and sends a form without loading the page. What it puts
// into the page is this program's own markup.
const script markup = `(() => {
"use strict";
const at = (id) => document.getElementById(id), stage = at("stage"), root = document.documentElement;
let end = 0, gone = 0, puts = 0;
const tick = () => {
	const left = at("left");
	if (!left) return;
	const n = Math.ceil((end - performance.now()) / 1000);
	if (n > 0) { left.textContent = n + " s"; return; }
	left.remove();
	for (const e of document.querySelectorAll(".qr")) e.remove();
};
const dressed = () => {
	const d = stage.firstElementChild.dataset, left = at("left");
	root.style.background = d.ground;
	root.style.color = d.ink;
	root.lang = stage.firstElementChild.lang;
	document.title = d.title;
	if (at("say").textContent !== d.say) at("say").textContent = d.say;
	if (left) end = performance.now() + Number(left.dataset.ms);
	tick();
};
const form = () => { // which keys there are: Enter on one of another scene would press something else
	const f = stage.querySelector("form");
	return f ? f.className + " " + f.getAttribute("aria-label") : "";
};
const put = (text) => {
	puts++;
	const had = document.activeElement, key = stage.contains(had) ? had.id : "", asked = form();
	stage.innerHTML = text;
	if (key && form() === asked) (at(key) || stage.querySelector("button") || document.body).focus();
	dressed();
};
const heard = (text) => { clearTimeout(gone); gone = 0; put(text); };
const lost = () => { if (!gone) gone = setTimeout(() => put(at("away").innerHTML), 3000); };
const take = (answer, failed) => {
	const before = puts; // what the stream has put meanwhile is newer
	answer.then((r) => r.ok ? r.text() : Promise.reject(r.status)).then((text) => {
		if (puts === before) heard(new DOMParser().parseFromString(text, "text/html").getElementById("stage").innerHTML);
	}).catch(failed);
};
const load = () => take(fetch("` + Path + `"), lost);
const listen = () => {
	const source = new EventSource("` + EventsPath + `");
	source.onmessage = (e) => heard(e.data);
	source.onerror = () => {
		if (source.readyState !== EventSource.CLOSED) { lost(); return; }
		load();
		setTimeout(listen, 3000);
	};
};
document.addEventListener("submit", (e) => {
	if (!e.submitter) return;
	e.preventDefault();
	const form = e.target;
	if (form.dataset.sent) return;
	form.dataset.sent = "1";
	const body = new URLSearchParams({` + formField + `: form.elements["` + formField + `"].value, ` + keyField + `: e.submitter.value});
	take(fetch("` + Path + `", {method: "POST", body: body}), load);
});
document.addEventListener("keydown", (e) => {
	const on = document.activeElement;
	if (e.ctrlKey || e.altKey || e.metaKey || e.repeat || e.key === "Enter" && on && on.tagName === "BUTTON") return;
	const key = at("k-" + ({Enter: "confirm", Backspace: "correct", Escape: "cancel"}[e.key] || e.key));
	if (key) { e.preventDefault(); key.click(); }
});
setInterval(tick, 250);
dressed();
listen();
})();`

// hash is how the policy names a sheet or a script.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// policy is the Content-Security-Policy of a page with the colours of its scene.
func policy(colors string) string {
	return "default-src 'none'; script-src" + hash(string(script)) + "; style-src" + hash(string(sheet)) + hash(colors) +
		"; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}
