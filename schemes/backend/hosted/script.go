package hosted

// fieldScript runs in a hosted field. It sends what stands in the field to us alone and tells the platform's page, if that has
// the declared origin, what became of it.
const fieldScript = `(() => {
"use strict";
const box = document.getElementById("field"), id = box.dataset.id, to = box.dataset.to;
const input = box.querySelector("input"), button = box.querySelector("button"), why = box.querySelector("[role=alert]");
let token = box.dataset.token, last = "", timer = 0, queue = Promise.resolve();
const tell = m => { if (parent !== window) parent.postMessage(m, to); };
const mark = text => {
	if (!input) return;
	why.textContent = text;
	why.hidden = !text;
	for (const [name, value] of [["aria-invalid", "true"], ["aria-describedby", why.id]]) text ? input.setAttribute(name, value) : input.removeAttribute(name);
};
const send = (value, confirm = "") => {
	clearTimeout(timer);
	if (input && value === last && !confirm) return queue;
	last = value;
	return queue = queue.then(async () => {
		try {
			const reply = await fetch(location.pathname, {method: "POST", body: new URLSearchParams({token, value, confirm}), credentials: "omit"});
			const m = await reply.json(), then = m.then;
			token = m.token || token;
			delete m.token;
			delete m.then;
			mark(m.event === "BUILD_ERROR" ? m.errorMessage : "");
			tell(m);
			if (then) tell(then);
		} catch {
			last = "";
			mark(box.dataset.trouble);
			tell({event: "BUILD_ERROR", id, errorCode: "HF0002", errorMessage: box.dataset.trouble});
		}
	});
};
if (box.dataset.over) tell({event: "BUILD_ERROR", id, errorCode: box.dataset.over, errorMessage: box.dataset.why});
if (input) {
	if (id === "EXPIRATION_DATE") formatExpiry(input); // first, so that what is sent is what stands there
	input.addEventListener("change", () => send(input.value));
	input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => send(input.value), 600); });
	tell({event: "FIELD_LOADED", id});
}
if (button) button.addEventListener("click", () => send("1"));
addEventListener("message", e => {
	if (e.origin !== to || !e.data || e.data.ask !== "confirm") return;
	if (input && id === "CARD_NUMBER") setTimeout(() => send(input.value, "1"), 300); // after the other fields
	else if (input) send(input.value);
	if (button && e.data.id === id) send("1");
});
})();
`

// platformScript is what a platform's own page may load: it knows the frames by their messages and calls the platform's functions,
// in the manner of the real service's script.
const platformScript = `"use strict";
class Build {
	constructor(calls) {
		const home = new URL(Build.home).origin;
		this.home = home;
		addEventListener("message", e => {
			if (e.origin !== home || !e.data || !e.data.event) return;
			const call = name => { if (calls[name]) calls[name](e.data, e.data.state); };
			switch (e.data.event) {
			case "BUILD_SUCCESS": return call("onBuildSuccess");
			case "BUILD_ERROR": return call("onBuildError");
			case "CONFIRM_ERROR": return call("onConfirmError");
			case "BUILD_FLOW_STATE_CHANGE": return call("onBuildFlowStateChange");
			case "FIELD_LOADED": return call("onFieldLoaded");
			}
		});
	}
	confirmData(loader) {
		if (loader) loader();
		this.post({ask: "confirm"});
	}
	clickAction(id) { this.post({ask: "confirm", id}); }
	post(m) {
		for (const f of document.querySelectorAll("iframe")) if (f.src.startsWith(this.home + "/")) f.contentWindow.postMessage(m, this.home);
	}
}
Build.home = document.currentScript.src;
`
