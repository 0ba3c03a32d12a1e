package ready

import (
	"cmp"
	"net"
	"strings"
	"unicode"
)

// Cause names why something does not work. A cause is a stable word for programs.
type Cause string

// The causes.
const (
	Config        Cause = "config"
	NoConfig      Cause = "no_config"
	ConfigChanged Cause = "config_changed" // beside a running terminal
	Zone          Cause = "time_zone"      // of a running terminal
	Unmarked      Cause = "mark_not_written"
	Unenrolled    Cause = "not_enrolled"
	Enrolling     Cause = "enrolling"
	NoRecord      Cause = "enrolment_unreadable"
	NotTrusted    Cause = "enrolment_not_trusted"
	Replaced      Cause = "replaced"
	NotConfirmed  Cause = "not_confirmed"
	NoAccess      Cause = "no_access"
	Stopped       Cause = "stopped"
	AddressTaken  Cause = "address_taken" // of a terminal that does not run
	Starting      Cause = "starting"
	Silent        Cause = "no_answer" // of a terminal whose process is there
	Resuming      Cause = "resuming"
	Asking        Cause = "asking"
	DiskFull      Cause = "disk_full"
	Journal       Cause = "journal"
	Locked        Cause = "journal_locked"
	Displaced     Cause = "journal_displaced"
	ReadOnly      Cause = "disk_read_only"
	BatchFull     Cause = "batch_full"
	Cut           Cause = "journal_cut"
	Lost          Cause = "journal_lost"
	KeyMissing    Cause = "key_missing"
	KeyUnfit      Cause = "key_unusable"
	KeyWrong      Cause = "key_wrong"
	NoLine        Cause = "no_line"
	LineGone      Cause = "line_missing"
	LinePulled    Cause = "line_unplugged"
	LineStuck     Cause = "line_stuck"
	LineAltered   Cause = "line_altered"
	LineDenied    Cause = "line_denied"
	LineBusy      Cause = "line_busy"
	LineOurs      Cause = "line_ours"
	LineNoTTY     Cause = "line_no_tty"
	LineFailed    Cause = "line_failed"
	LineAddress   Cause = "line_address_gone"
	PortAddress   Cause = "port_address_gone"
	PadGone       Cause = "keypad_missing"
	PadDenied     Cause = "keypad_denied"
	PadFailed     Cause = "keypad_failed"
	PadStuck      Cause = "keypad_stuck"
	ScreenGone    Cause = "display_missing"
	ScreenDenied  Cause = "display_denied"
	ScreenFailed  Cause = "display_failed"
	ScreenFile    Cause = "display_file"
	ScreenSmall   Cause = "display_small"
	ScreenStuck   Cause = "display_stuck"
	PageUnseen    Cause = "display_page"
	NoMethods     Cause = "no_methods"
	NoList        Cause = "no_list"
	Unreadable    Cause = "unreadable"
	Unfit         Cause = "no_fitting_method"
	NoRoutes      Cause = "no_initialize"

	ServiceRefused Cause = "service_refused" // one with credentials of its own, which no sale by another method needs
)

// row is one line of the table. In its texts {where} is the host, device or path that the trouble is about, {detail} what was seen
// there, {config} where the settings are set that the remedy names, {flags} the flags that the terminal was started with, {keys} the keys
// that a trouble names behind a blank, and {scheme} that of the address that is asked.
type row struct {
	cause  Cause
	words  string
	remedy string
	passes bool // a terminal that has sold before goes on: it ends by itself, and needs no person
}

// table is every cause. The causes of the backend are named as package upstream names its faults.
func table() []row {
	return []row{
		{Config, "the configuration has an error", "posagent config check{flags}", false},
		{NoConfig, "no terminal has run here, and no configuration is named", "posagent enroll CODE --url URL, or posagent config example > config.toml, fill it in, then posagent run --config config.toml", false},
		{ConfigChanged, "{where} was changed at {detail}, and the running terminal works with what it held before", "posagent config check{flags} says whether it is right; stop the terminal, then {run}: what was changed applies from that start on", true},
		{Zone, "the time zone is not known on this box, {detail}, and the terminal works in UTC, on receipts and slips too", "timedatectl set-timezone sets it, with the package tzdata where the box has no zones; a wrong TZ is corrected where the terminal is started; then {run}", true},
		{Unmarked, "the mark {where} is not written, {detail}, and an older copy of the journal that is put back may not be noticed", "dmesg | tail says why where its medium has become read-only, mount -o remount,rw makes it writable again; plug it in where it is away; [store] mark in {config} names it; the terminal goes on by itself", true},
		{Unenrolled, "the terminal is not enrolled, and no [upstream] is set", "posagent enroll{flags} CODE --url URL, with the code of the backend's operator; or set [upstream] in {config}, which is read at once", false},
		{Enrolling, "the enrolment at {where} is not at its end, {detail}", "the running terminal goes on with it by itself, posagent enroll{flags} does so at once and says what is wrong; if the address is wrong, posagent enroll{flags} CODE --url URL takes another one", false},
		{NotTrusted, "the enrolment at {where} is not at its end, what the service gave is not trusted, {detail}", "compare the fingerprint with the operator's screen; posagent enroll{flags} CODE --url URL --fingerprint F goes on with the right one, the same command without --fingerprint compares none", false},
		{NoRecord, "the record of the enrolment cannot be read, {detail}", "posagent enroll{flags} CODE --url URL, with a new code of the backend's operator; the journal stays", false},
		{Replaced, "this box is not the terminal any more, {detail}", "ask the backend's operator why; with a new code, posagent enroll{flags} CODE makes it one again", false},
		{NotConfirmed, "the operator's service at {where} has not confirmed this terminal yet, {detail}", "connect the network, the terminal then goes on by itself; posagent enroll{flags} tries at once, and says what is wrong", false},
		{Stopped, "the terminal does not run, {detail}", "{run}", false},
		{AddressTaken, "the terminal does not run, and another program listens on {where} ({detail})", "stop that program, or let the terminal listen on another address; then {run}", false},
		{NoAccess, "unknown", "this account may not read {where}: run as its owner: sudo -u {detail} posagent status{flags}", false},
		{Starting, "the terminal is starting", "posagent status{flags}, again in some seconds", false},
		{Silent, "the terminal runs as process {where} and does not answer, {detail}", "posagent doctor{flags} looks at it; let a stopped process go on (fg, in the shell that has stopped it); else end it, then {run}: every open sale is resumed from the journal", false},
		{Resuming, "older sales are being resumed", "posagent status{flags} shows them; wait until they are settled", false},
		{Asking, "the backend has not answered yet", "posagent status{flags}, again in some seconds", false},
		{DiskFull, "no space left on the disk of {where}", "df -h {where} shows it; free space there, but leave what is in {where}", false},
		{ReadOnly, "the file system of {where} is read-only", "dmesg | tail says why; mount -o remount,rw makes it writable again; the journal is whole", false},
		{BatchFull, "the open batch has no receipt number left, and nothing is sold, {detail}", "posagent sale end-of-day{flags} closes the day, and so does the register's end of day; [checkout] end_of_day in {config} closes each day by itself", false},
		{Cut, "the journal of {where} is cut, {detail}", "compare posagent sale list{flags} with the register's journal, then posagent journal accept{flags} --reason TEXT; or put a newer backup back, posagent restore{flags} FILE", false},
		{Lost, "the journal of {where} is lost, {detail}", "put the newest backup back, posagent restore{flags} FILE; where there is none, compare with the register's journal, then posagent reset --lost-journal{flags} --reason TEXT; leave {where} as it is until then", false},
		{KeyMissing, "the device key of the journal in {where} is missing, {detail}", "put the file back from where it was kept, the journal is whole and opens with no other key; where there is no copy, compare with the register's journal, then posagent reset --lost-journal{flags} --reason TEXT puts this journal aside and keeps it, and posagent restore{flags} FILE puts the newest backup in its place", false},
		{KeyUnfit, "the device key of the journal cannot be used, {detail}", "the file must be the key that was made here, mode 0600, owned by the user that runs posagent; posagent doctor{flags} --fix sets the mode, posagent config rotate-key{flags} changes a key that others may have read; the journal is whole; where the key is damaged, put a copy back; where there is no copy, compare with the register's journal, then posagent reset --lost-journal{flags} --reason TEXT puts this journal aside and keeps it, and posagent restore{flags} FILE puts the newest backup in its place", false},
		{KeyWrong, "the device key in {where} is not the one of the journal, {detail}", "put the right file back from where it was kept, the journal is whole; where there is no copy, compare with the register's journal, then posagent reset --lost-journal{flags} --reason TEXT puts this journal aside and keeps it, and posagent restore{flags} FILE puts the newest backup in its place; leave {where} as it is until then", false},
		{Journal, "the journal of {where} cannot be written or read, {detail}", "dmesg | tail shows errors of the disk; keep {where} as it is, and call support", false},
		{Locked, "another program keeps the journal of {where} locked, {detail}", "fuser -v {where}/agent.db names it; end it; the terminal goes on by itself", false},
		{Displaced, "the journal is not in {where} any more, {detail}", "stop the terminal in the ordinary way (systemctl stop, or Ctrl-C in its shell) and leave the power on until it has ended: where nothing else lies in the place of the journal, it puts it back; then posagent status{flags} tells what lies in {where}, and {run} starts it again", false},

		{NoLine, "no register line is set, and no local program may sell", "set [ecr] serial or tcp in {config}, or give a client of [port.clients] may = [\"read\", \"sales\"], then {run}", false},
		{LineGone, "the register line {where} is not there", "plug the cable in; ls /dev/serial/by-id lists the devices, set [ecr] serial in {config} to one of them", false},
		{LinePulled, "the register line {where} was unplugged", "plug the cable in again; the terminal opens the line by itself", false},
		{LineStuck, "the register line {where} takes no data", "unplug its converter and plug it in again, the terminal then opens the line by itself; if it happens again, turn off flow control in the register's settings, or change the converter", false},
		{LineAltered, "another program has changed the settings of the register line {where}, which were set again, {detail}", "fuser -v {where} names a program that has it open; systemctl status ModemManager brltty and a getty on it are the usual ones: stop it", false},
		{LineDenied, "the register line {where} may not be opened by this user", "ls -l {where} shows the group; usermod -aG GROUP USER, then start posagent again", false},
		{LineBusy, "the register line {where} is in use by another program", "fuser -v {where} names it; stop it", false},
		{LineOurs, "the register line {where} is in use by this terminal itself, {detail}", "posagent config check{flags} names the settings that share it; give each a device of its own in {config}, then {run}", false},
		{LineNoTTY, "the register line {where} is no serial device", "ls /dev/serial/by-id lists the devices; set [ecr] serial in {config} to one of them", false},
		{LineFailed, "the register line {where} does not open, {detail}", "dmesg | tail shows what the system says of the device", false},
		{LineAddress, "no register reaches the line on {where}, {detail}", "ip addr lists the addresses of the box; give it that one again (fixed, or always the same from DHCP), or set [ecr] tcp in {config} to the new one, then {run}", false},
		{PortAddress, "no program reaches the local port on {where}, {detail}", "ip addr lists the addresses of the box; give it that one again (fixed, or always the same from DHCP), or set [port] listen in {config} to the new one, then {run}", false},
		{PadGone, "the keypad {where} is not there, and nothing that is typed can be sold", "plug it in, the terminal reads it by itself; ls -l /dev/input/by-id lists the devices, set [keypad] device in {config} to one of them", false},
		{PadDenied, "the keypad {where} may not be opened by this user", "ls -l {where} shows the group, mostly input; usermod -aG input USER, then start posagent again", false},
		{PadFailed, "the keypad {where} cannot be read, {detail}", "ls -l /dev/input/by-id lists the devices; set [keypad] device in {config} to the keypad's own", false},
		{PadStuck, "a key of the keypad {where} is held down, and its presses count for nothing", "free the key; where none is pressed, unplug the keypad and plug it in again, or exchange it", false},
		{ScreenGone, "the screen {where} is not there, and a customer sees no code on it", "plug it in, the terminal draws on it by itself; ls -l /dev/fb* lists the screens, set [display] framebuffer in {config} to one of them", false},
		{ScreenDenied, "the screen {where} may not be drawn on by this user, and a customer sees no code on it", "ls -l {where} shows the group, mostly video; usermod -aG video USER, then start posagent again", false},
		{ScreenFailed, "the screen {where} cannot be drawn on, {detail}, and a customer sees no code on it", "ls -l /dev/fb* lists the screens; set [display] framebuffer in {config} to one of them; a plain file needs framebuffer_size", false},
		{ScreenFile, "the picture {where} cannot be written, {detail}, and a customer sees no code on it", "make its directory, and let the terminal's user write there; or set [display] file in {config} to a path where it may", false},
		{ScreenSmall, "the screen {where} is too small for the code", "set rotate or file_size of [display] in {config} so that the code has more room, or connect a larger screen", false},
		{ScreenStuck, "the screen {where} takes no pictures, and may show that of an earlier sale", "dmesg | tail shows what its driver says; unplug it and plug it in again, or start the box again", false},
		{PageUnseen, "no browser shows the customer's page {where}", "open it in the browser of the customer's screen; without one, set [display] page = false in {config}", false},

		{NoMethods, "the backend knows no payment method for this merchant and terminal", "correct bax_id and terminal_id of [terminal] in {config}, or ask the backend's operator to add one", false},
		{Unfit, "none of the backend's payment methods can be sold here", "posagent methods{flags} shows them; one needs PAYMENT with REVERSAL or REFUND, and the trigger QR, or MANUAL and a keypad ([keypad] device); ask the backend's operator", false},
		{NoRoutes, "{where} has neither of the routes by which a payment starts, initialize and initializeWithIdempotency", "correct [upstream] schemes, or base, in {config}; if they are right, call the backend's operator; the next sale shows whether it is mended", false},
		{NoList, "{where} sends no usable method list, {detail}", "correct [upstream] base or methods in {config}; if they are right, call the backend's operator", true},

		{Unreadable, "{where} answers about sales with what cannot be read, {detail}, and no sale is approved by it", "call the backend's operator, and name the field: its answers are not those of the contract; the next answer that can be read ends this", true},

		{"name_service", "the network's name service does not answer, so {where} is not found", "ip route; cat /etc/resolv.conf; check the cable and the router", true},
		{"no_name", "the name {where} does not exist", "getent hosts {name}; if it stays unknown, correct {base}", true},
		{"no_route", "the network is down, or has no way to {where}", "ip addr; ip route; check the cable and the router", true},
		{"refused", "{where} refuses the connection", "correct host and port of {base}; if they are right, call the backend's operator", true},
		{"stall", "{where} does not answer in time", "curl -sv {scheme}://{where}/ shows how far it gets; a firewall may block it, else call the backend's operator", true},
		{"broken", "the connection to {where} breaks off", "curl -sv {scheme}://{where}/ shows where; a firewall may cut it, else call the backend's operator", true},

		{"untrusted", "the certificate of {where} comes from an authority that is not trusted, {detail}", "if the issuer is the backend's, set [upstream] roots_file in {config} to its root certificate; else somebody reads along, and the network has to be mended", false},
		{"no_chain", "the certificate of {where} comes from an authority that is not trusted, {detail}, and it came alone", "call the backend's operator: where the issuer is an intermediate one, the server has to send its certificate, too; where it is the backend's root, set [upstream] roots_file in {config} to it; if it is neither, somebody reads along, and the network has to be mended", false},
		{"expired", "the certificate of {where} is out of date or not valid yet, {detail}", "date -u; if the clock is wrong, set it; else call the backend's operator", false},
		{"wrong_name", "the certificate of {where} is for another name, {detail}", "if it has answered before, the network has put something in its place, often a login page: open one in a browser and log in, or use another network; else correct the host of {base}", false},
		{"wrong_pin", "the certificate of {where} has none of the pinned keys", "ask the backend's operator for the new key, and put it into [upstream] pins in {config}; if there is none, somebody reads along", false},
		{"weak_key", "the certificate of {where}, or one above it, has an RSA key below 2048 bits", "ask the backend's operator for a certificate with an RSA key of 2048 bits or more, or with ECDSA", false},
		{"bad_tls", "no secure connection to {where} comes about, {detail}", "correct the port of [upstream] base, client_cert and client_key in {config}; else call the backend's operator", false},

		{"proxy_login", "the proxy demands a login", "set [upstream] proxy and proxy_auth_file in {config}; the file holds user:password", false},
		{"proxy_down", "the proxy cannot be reached", "correct [upstream] proxy in {config}; if it is right, check the network", true},
		{"proxy_refuses", "the proxy does not let the terminal through to {where}, {detail}", "ask the network's keeper to allow {where}, or correct [upstream] proxy in {config}", false},
		{"portal", "a network's login page answers in the place of {where}, {detail}", "log in to the network with a browser, or let its firewall pass {where}; if there is no such page, correct {base}", false},

		{"credentials", "{where} refuses the credentials, {detail}", "correct [upstream.auth]{keys} in {config}, then start posagent again", false},
		{ServiceRefused, "{where} refuses the credentials of one of its services, {detail}", "posagent net check{flags}, then correct [upstream.auth]{keys} in {config}, and start posagent again", false},
		{"no_service", "{where} has no such service, {detail}", "correct the path of {base}", false},
		{"failing", "{where} fails, {detail}", "call the backend's operator; the terminal asks again by itself, posagent status{flags} shows when it is over", true},
		{"too_many", "{where} is asked too often, {detail}", "wait some minutes; if another terminal has the same terminal_id, correct [terminal] in {config}", true},
	}
}

// Causes lists every cause in the order of the table.
func Causes() []Cause {
	var list []Cause
	for _, r := range table() {
		list = append(list, r.cause)
	}
	return list
}

// Passes says that the trouble ends by itself, and that a terminal which has been set up stays ready meanwhile.
func (c Cause) Passes() bool { return find(c).passes }

// find is a cause's row; one that is not in the table reads as a journal's.
func find(c Cause) row {
	for _, r := range table() {
		if r.cause == c {
			return r
		}
	}
	return row{cause: c, words: "the terminal does not work, {detail}", remedy: "posagent status{flags}"}
}

// fill puts what is known into a text. What is not known leaves nothing behind.
func fill(text string, t Trouble, at Place) string {
	if t.Detail == "" {
		text = strings.ReplaceAll(text, ", {detail}", "")
	}
	detail := clean(t.Detail)
	if r := []rune(detail); len(r) > longest {
		detail = string(r[:longest]) + "…"
	}
	text = strings.ReplaceAll(text, "{base}", cmp.Or(at.Base, "[upstream] base in {config}"))
	config, operator := at.setIn(settings(t))
	if operator && strings.Contains(text, "{config}") {
		text = strings.NewReplacer(", then start posagent again", "", ", and start posagent again", "").Replace(text) + "; the operator changes {config}, posagent config show{flags} names what it sets"
	}
	keys, scheme := t.Keys, "https"
	if keys != "" {
		keys = " " + keys
	}
	if t.Plain {
		scheme = "http"
	}
	return strings.NewReplacer("{keys}", keys, "{scheme}", scheme, "{where}", clean(t.Where), "{name}", clean(nameOf(t.Where)), "{detail}", detail, "{config}", config, "{flags}", at.Flags, "{run}", at.Start()).Replace(text)
}

// nameOf is a host without its port: what commands that find names take.
func nameOf(where string) string {
	if name, _, err := net.SplitHostPort(where); err == nil {
		return name
	}
	return where
}

// settings are the keys that a trouble's remedy lets a person change; one that ends in a dot is all below it.
func settings(t Trouble) []string {
	addresses := []string{"upstream.base", "upstream.methods", "upstream.schemes", "upstream.payments", "upstream.tokens", "upstream.paylinks", "upstream.disputes", "upstream.hosted"}
	switch t.Cause {
	case "no_name", "refused", "wrong_name", "portal", "no_service", NoList, NoRoutes:
		return addresses
	case "bad_tls":
		return append(addresses, "upstream.client_cert", "upstream.client_key")
	case "untrusted", "no_chain":
		return []string{"upstream.roots_file"}
	case "wrong_pin":
		return []string{"upstream.pins"}
	case "proxy_login", "proxy_down", "proxy_refuses":
		return []string{"upstream.proxy"}
	case "credentials", ServiceRefused:
		if t.Keys == "" {
			return []string{"upstream.auth."}
		}
		var list []string
		for key := range strings.SplitSeq(t.Keys, " or ") {
			list = append(list, "upstream.auth."+key)
		}
		return list
	case NoMethods:
		return []string{"terminal.bax_id", "terminal.terminal_id"}
	case "too_many":
		return []string{"terminal.terminal_id"}
	case LineGone, LineNoTTY:
		return []string{"ecr.serial"}
	case LineAddress:
		return []string{"ecr.tcp"}
	case PortAddress:
		return []string{"port.listen"}
	case PadGone, PadFailed:
		return []string{"keypad.device"}
	case ScreenGone, ScreenFailed:
		return []string{"display.framebuffer"}
	case ScreenFile:
		return []string{"display.file"}
	case Unmarked:
		return []string{"store.mark"}
	case BatchFull:
		return []string{"checkout.end_of_day"}
	case PageUnseen:
		return []string{"display.page"}
	}
	return nil
}

// In says where the first of some settings that is set was set, and who changes it there; a key that ends in a dot is all below it.
func (p Place) In(keys ...string) string {
	where, operator := p.setIn(keys)
	if operator {
		where += ", which the backend's operator changes"
	}
	return where
}

// setIn says where the first of some settings that is set was set, for a person; operator: in a revision of the operator's.
func (p Place) setIn(keys []string) (where string, operator bool) {
	for _, key := range keys {
		origin := p.Origins[key]
		for name, at := range p.Origins {
			if strings.HasSuffix(key, ".") && strings.HasPrefix(name, key) && (origin == "" || at < origin) {
				origin = at
			}
		}
		switch {
		case strings.HasPrefix(origin, "revision "):
			where, _, _ = strings.Cut(origin, ":")
			return where, true
		case strings.HasPrefix(origin, "POSAGENT_"):
			return "the variable " + origin, false
		case origin != "":
			return p.file(), false
		}
	}
	return p.file(), false
}

// file is the box's own configuration.
func (p Place) file() string {
	if p.Config == "" {
		return "the configuration"
	}
	return p.Config
}

// longest is how many letters of a text from outside are shown.
const longest = 240

// clean takes out of a text what would break a line, or the sentence at its colons.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, s)
	return strings.ReplaceAll(s, ": ", ", ")
}
