package check

// A pattern names packages below the module: "*" is one path element, "/..." at the end is the package and all below it,
// ".." is the package one level up.

// room is a row of the import table. The first row that matches a package is its row.
type room struct {
	packages string
	may      []string // besides the standard library
	why      string
}

// rooms is the import table: cmd -> agent/... -> {ecr, device, store, schemes/<svc>} -> schemes/{money, wire} -> std.
var rooms = []room{
	{"cmd/posagent", []string{"cmd/posagent/demo", "cmd/backend", "cmd/usage", "agent/...", "ecr/...", "device/...", "store", "store/marks", "store/move", "store/sqlite", "schemes/..."}, "wires everything, and is imported by nobody"},
	{"cmd/posagent-backend", []string{"agent/config", "agent/doctor/exam", "cmd/backend", "cmd/usage", "device/file", "schemes/backend", "store", "store/move", "store/postgres"}, "a program of its own, of servers: no terminal carries its engine"},
	{"cmd/posagent-update", []string{"agent/lifecycle/update", "cmd/usage", "device/file"}, "a program of its own, of root's: it carries no journal and no service"},
	{"cmd/backend", []string{"cmd/usage", "agent/config", "agent/doctor/exam", "device", "device/file", "device/qr", "schemes/backend", "schemes/backend/webhooks", "schemes/backend/scenario", "schemes/fleet", "schemes/money", "schemes/wire"}, "the verbs of a backend, for the programs that serve one: knows no engine of the store"},
	{"cmd/posagent/demo", nil, "executes its own binary and talks to it, nothing else"},
	{"cmd/usage", nil, "texts of a table of verbs: knows no verb"},
	{"cmd/usage/usagetest", []string{".."}, "the suite that holds a program's texts to its table of verbs"},

	{"agent/intent", []string{"schemes/aapay", "schemes/wire"}, "CORE: is this answer the answer to what was asked, and how a name is kept; no I/O"},
	{"agent/checkout", []string{"agent/intent", "ecr", "schemes/methods", "schemes/aapay", "schemes/money", "schemes/wire"}, "CORE: one sale from request to outcome, no I/O"},
	{"agent/checkout/drive/journal", []string{"agent/checkout", "agent/intent", "agent/gateway", "agent/outbox", "ecr", "store", "schemes/methods", "schemes/aapay", "schemes/money", "schemes/wire"}, "the rows of sales and their compare-and-set: undos are accepted in its commits"},
	{"agent/checkout/drive/live", []string{"agent/checkout", "agent/checkout/drive/journal", "ecr", "schemes/wire"}, "what this run remembers of its sales: knows no store"},
	{"agent/checkout/drive/perform", []string{"agent/checkout", "agent/checkout/drive/journal", "agent/checkout/drive/live", "device/qr", "device/display", "device/display/scene", "ecr", "ecr/receipt", "store", "schemes/methods", "schemes/aapay", "schemes/money", "schemes/wire"}, "performs what is decided, once it is durable"},
	{"agent/checkout/drive", []string{"agent/checkout", "agent/checkout/drive/journal", "agent/checkout/drive/live", "agent/checkout/drive/perform", "agent/catalog", "agent/intent", "agent/gateway", "agent/outbox", "device/display", "device/display/scene", "ecr", "store", "schemes/methods", "schemes/aapay", "schemes/money", "schemes/wire"}, "what a register, and a person at the terminal, can ask of the checkout"},
	{"agent/checkout/drive/drivetest", []string{"agent/checkout/drive", "agent/checkout/drive/journal", "agent/gateway", "agent/outbox", "ecr", "store", "schemes/money"}, "a checkout that is started again, for the tests of the rooms that sell through it"},
	{"agent/counter/prompts", []string{"agent/checkout", "agent/checkout/drive", "device/keypad/entry", "ecr", "schemes/methods"}, "asks a person for what a sale still needs: knows keys and faces, no pad and no screen"},
	{"agent/config", []string{"device/file", "device/keypad", "device/node", "schemes/money", "schemes/wire"}, "plain data: each room has its own config, cmd converts"},
	{"agent/counter/devices", []string{"device/display", "device/display/scene", "device/keypad/entry", "ecr"}, "the screen, keys and printer that registers may use: knows no sale and no protocol"},
	{"agent/counter/printqueue", []string{"agent/checkout/drive", "agent/checkout/drive/journal", "device/printer", "ecr", "ecr/receipt", "store", "schemes/money", "schemes/wire"}, "what waits for the terminal's own printer: no register and no line"},
	{"agent/outbox", []string{"store", "schemes/wire"}, "store-and-forward over opaque payloads: knows no service"},
	{"agent/gateway", []string{"agent/checkout", "agent/intent", "agent/records/replacedjournal", "agent/outbox", "store", "schemes/methods", "schemes/aapay", "schemes/payments", "schemes/paylinks", "schemes/tokens", "schemes/money", "schemes/wire", "schemes/wire/check"}, "the outbox's typed adapters"},
	{"agent/gateway/offlinetest", []string{"schemes/paylinks", "schemes/payments", "schemes/tokens", "schemes/wire"}, "what clients of the campaigns write, and a small backend: the contracts alone"},
	{"agent/ownership", []string{"agent/intent", "agent/records/replacedjournal", "store", "schemes/aapay", "schemes/disputes", "schemes/hosted", "schemes/onboarding", "schemes/wire"}, "whose the things are that the terminal only passes on"},
	{"agent/support/reconcile", []string{"agent/checkout", "agent/checkout/drive/journal", "agent/intent", "ecr", "store", "schemes/aapay", "schemes/money", "schemes/wire"}, "compares a till's list with the journal and the backend: reads, and can change nothing"},
	{"agent/support/daily", []string{"agent/support/reconcile", "device/file", "store", "schemes/wire"}, "compares a till's list once a day, and keeps what was found: is told the rest by the agent"},
	{"agent/paylink", []string{"agent/gateway", "store", "schemes/methods", "schemes/aapay", "schemes/paylinks", "schemes/money", "schemes/wire"}, "payment links spoken as a scheme"},
	{"agent/catalog", []string{"store", "schemes/methods", "schemes/wire"}, "the cached method list"},
	{"agent/inbox", []string{"agent/intent", "store", "schemes/hosted", "schemes/webhooks", "schemes/wire"}, "the durable receiver: knows the envelopes and what a build's notifications are known by, no service behind them"},
	{"agent/records/deletedrows", []string{"agent/checkout/drive/journal", "agent/outbox", "store"}, "finds rows that were removed from outside, by the numbers in the journal's end"},
	{"agent/records/replacedjournal", []string{"store", "schemes/wire"}, "words what a lost journal may have made: knows none of the rooms that ask"},
	{"agent/scrub", nil, "overwrites what is freed: knows nobody's data"},
	{"agent/records/events", []string{"store"}, "what happened, in the order of commits: knows none of the rooms it happened in"},
	{"agent/upstream", []string{"device/names", "schemes/wire"}, "the one HTTP client: knows no service"},
	{"agent/doctor", []string{"agent/doctor/exam", "agent/ready", "device/file"}, "the checks and their order: is told the facts of every room, and imports none"},
	{"agent/doctor/exam", []string{"device/file"}, "runs a table of checks, the terminal's or a backend's: knows no check"},
	{"agent/records/history", []string{"agent/ready", "store"}, "what happened to the terminal as a whole: is told by the agent, and knows no other room"},
	{"agent/support/bundle", []string{"schemes/wire"}, "packs what it is given for the help desk, without secrets and card numbers: knows no room"},
	{"agent/ready", nil, "why a register may not ask, and what to type: knows no room"},
	{"agent/view", []string{"agent/catalog", "agent/checkout", "agent/checkout/drive/journal", "agent/support/daily", "agent/records/events", "agent/records/deletedrows", "agent/inbox", "agent/records/replacedjournal", "agent/outbox", "agent/paylink", "agent/ready", "ecr", "store", "schemes/methods", "schemes/money", "schemes/wire"}, "what the terminal shows of itself, in one form for the command line and the port"},
	{"agent/lifecycle/enrol", []string{"device/file", "device", "schemes/fleet", "schemes/wire"}, "the box's enrolment: a configuration is a text to it, the trial is its caller's"},
	{"agent/records/audit", []string{"ecr", "store", "schemes/wire"}, "who did what: knows how a register and a client are named, and none of the rooms"},
	{"agent/httpd", []string{"ecr/socket"}, "how the terminal's two servers end, and stream events: knows no route and no caller"},
	{"agent/support/record", nil, "lets a person follow the log for a while: knows no room that logs"},
	{"agent/control/socket", nil, "how a running terminal's socket is reached, and who answers there: also without a journal"},
	{"agent/lifecycle/rollout", []string{"device/file"}, "two files between the terminal and its updater: knows neither"},
	{"agent/lifecycle/update", []string{"agent/control/socket", "agent/lifecycle/rollout", "device/file", "device/names"}, "replaces the program from outside: trusts no other room, and shares none but the two files"},
	{"agent/control", []string{"agent/records/audit", "agent/control/socket", "agent/httpd", "agent/outbox", "agent/ready", "agent/support/record", "agent/view", "ecr/receipt", "schemes/wire"}, "the command line's socket: the outbox's verbs and a recording, which the local port must not have"},
	{"agent/port/login", []string{"agent/records/audit", "agent/outbox", "agent/port/pages", "agent/view", "schemes/wire"}, "what a person does in a browser: the outbox's verbs behind a PIN, which no token reaches"},
	{"agent/port/customerpage", []string{"agent/httpd", "device/display", "device/display/scene", "device/keypad/entry", "schemes/wire"}, "the customer's screen as a page: shows scenes and passes keys on, knows no sale and no port"},
	{"agent/port/pages", []string{"agent/checkout", "agent/outbox", "agent/view", "ecr", "schemes/methods", "schemes/money"}, "the page for people: words and tags around what the view shows, no I/O"},
	{"agent/port/salesapi", []string{"agent/checkout", "agent/checkout/drive/journal", "agent/httpd", "agent/intent", "agent/view", "device/qr", "ecr", "ecr/receipt", "store", "schemes/contracts", "schemes/money", "schemes/wire", "schemes/wire/rest", "schemes/wire/rest/openapi"}, "a register's requests over HTTP: the port mounts it without knowing the register's side, and it knows no credential"},
	{"agent/port", []string{"agent/httpd", "agent/port/pages", "agent/view", "agent/outbox", "schemes/aapay", "schemes/contracts", "schemes/disputes", "schemes/hosted", "schemes/methods", "schemes/onboarding", "schemes/paylinks", "schemes/payments", "schemes/tokens", "schemes/wire", "schemes/wire/rest", "schemes/wire/rest/openapi"}, "the local HTTP port: mounts the services' handlers, and reads the terminal through its view"},
	{"agent", []string{"agent/...", "ecr", "ecr/receipt", "ecr/session", "device/...", "store", "store/sqlite", "schemes/methods", "schemes/aapay", "schemes/money", "schemes/wire"}, "the supervisor; it cannot tell the embedded backend from the real one"},

	{"ecr", []string{"schemes/money"}, "what a register can ask and be told"},
	{"ecr/receipt", []string{"ecr", "schemes/money"}, "what stands on a receipt, on whatever medium: no I/O"},
	{"ecr/zvt", []string{"ecr", "ecr/receipt", "ecr/zvt/apdu", "schemes/money"}, "CORE: the terminal's side of the dialogue, no I/O"},
	{"ecr/zvt/apdu", []string{"schemes/money"}, "tables and codec"},
	{"ecr/zvt/frame", []string{"ecr", "ecr/zvt/apdu"}, "blocks over any io.ReadWriteCloser; apdu tells where a message ends"},
	{"ecr/zvt/protocol", []string{"ecr", "ecr/zvt", "ecr/zvt/frame"}, "makes ZVT an ecr.Protocol; its callers are those who know which protocol a line speaks"},
	{"ecr/jsonl", []string{"ecr", "ecr/receipt", "schemes/money"}, "CORE: the terminal's side of JSON lines, with a strict reader of its own, no I/O"},
	{"ecr/jsonl/protocol", []string{"ecr", "ecr/jsonl", "ecr/life"}, "lines of bytes and their checksum; makes JSON lines an ecr.Protocol"},
	{"ecr/nexo", []string{"ecr", "ecr/life", "ecr/receipt", "ecr/socket", "schemes/money"}, "nexo Retailer: messages, encryption, HTTP and the dialogue, one small protocol in one folder"},
	{"ecr/nexo/cert", nil, "the certificate that tills know a terminal by: bytes in, bytes out"},
	{"ecr/caisseap", []string{"ecr", "schemes/money"}, "CORE: the terminal's side of Caisse-AP, messages and dialogue, no I/O"},
	{"ecr/caisseap/protocol", []string{"ecr", "ecr/caisseap", "ecr/life", "ecr/socket"}, "joins that dialogue with a TCP connection; its callers are those who know which protocol a line speaks"},
	{"ecr/life", []string{"ecr"}, "the queue, the counters and the end of a register's connection: knows no protocol"},
	{"ecr/socket", nil, "what the kernel knows of a peer's TCP connection: knows no protocol and no server"},
	{"ecr/ecr17", []string{"ecr", "ecr/receipt", "schemes/money"}, "CORE: the terminal's side of ECR17, messages and dialogue, no I/O"},
	{"ecr/ecr17/protocol", []string{"ecr", "ecr/ecr17", "ecr/life"}, "frames and their check byte; makes ECR17 an ecr.Protocol"},
	{"ecr/session", []string{"ecr"}, "joins a line, any dialogue and a desk; knows no protocol"},
	{"ecr/ecrtest", []string{"cross/need", "ecr", "ecr/ecrtest/desk", "ecr/ecrtest/lines", "ecr/session", "schemes/money"}, "the conformance suite of register protocols: knows none"},
	{"ecr/ecrtest/desk", []string{"ecr"}, "a desk for tests of register lines: knows no protocol"},
	{"ecr/ecrtest/lines", []string{"ecr"}, "lines for tests and measurements: knows bytes alone"},
	{"ecr/ecrtest/toy", []string{"ecr", "ecr/life", "schemes/money"}, "a protocol for tests alone: what each protocol needs, and no more"},
	{"ecr/till/zvt", []string{"ecr", "ecr/zvt/apdu", "ecr/zvt/frame", "schemes/money"}, "a register of ZVT: shares the codec with the terminal, not the dialogue"},
	{"ecr/till", []string{"ecr/till/zvt", "ecr/zvt/apdu", "ecr/zvt/frame", "schemes/money"}, "a register of every protocol behind one interface: shares codecs with the terminal, and no dialogue"},
	{"ecr/torture", []string{"ecr/till", "schemes/money"}, "a register that tests any terminal: knows no protocol"},

	{"device", []string{"device/file"}, "identity, keys, clock; implements store.Wrapper without knowing the store"},
	{"device/file", nil, "reads and replaces files where others may have put something: knows no file"},
	{"device/node", nil, "which device a name means: knows no user of one"},
	{"device/line", []string{"device/node"}, "serial ports: knows no frames"},
	{"device/names", nil, "addresses of hosts: knows no service"},
	{"device/qr", []string{"schemes/money"}, "codes and their check"},
	{"device/display", []string{"device/qr", "device/display/*"}, "screens: the checkout says what to show"},
	{"device/display/scene", []string{"device/qr"}, "what stands on a screen, in words: knows no screen"},
	{"device/display/glyph", []string{"device/display/glyph/outline"}, "letters as dots and lines: knows no text"},
	{"device/display/glyph/outline", nil, "a face as bytes: knows no size and no screen"},
	{"device/display/layout", []string{"device/qr", "device/display/scene", "device/display/glyph"}, "where a scene's parts stand: draws nothing"},
	{"device/display/paint", []string{"device/display/layout", "device/display/glyph"}, "draws what was placed: knows no scene and no device"},
	{"device/display/framebuffer", nil, "a panel's bytes: knows no scene"},
	{"device/keypad", []string{"device/keypad/entry"}, "keys of an input device: knows no sale and no screen"},
	{"device/keypad/entry", nil, "a value being typed: knows no device and no screen, so that any pad can press"},
	{"device/printer", []string{"device/qr"}, "paper: is told what to print, and given the line that leads there"},
	{"device/printer/printertest", nil, "a printer for tests: shares no code with the room that it tests"},

	{"store", []string{"device/file"}, "the contract of every engine, and what is above engines: knows bytes, never money"},
	{"store/marks", []string{"device/file", "store"}, "where a journal ends, and what a start makes of it: knows no database"},
	{"store/sqlite", []string{"device/file", "store", "store/marks"}, "the engine of a terminal and of a small backend: who assembles opens it, nobody else names it"},
	{"store/move", []string{"store"}, "copies books between engines, and knows none"},
	{"store/postgres", []string{"device/file", "store"}, "the engine of a backend of many processes: no terminal's program carries it"},
	{"store/postgres/pgserver", nil, "servers of Debian's programs, for tests and campaigns: knows no store"},
	{"store/postgres/pgtest", []string{"cross/need", "store/postgres/pgserver"}, "the same servers, ended with a test: knows no store"},
	{"store/storetest", []string{"cross/need", "store", "store/sqlite"}, "the suite that holds every engine to the contract, and stores for the tests of the rooms that own tables"},
	{"store/crashfs", []string{"store"}, "power cuts for the store's tests"},

	{"schemes/money", nil, "amounts and currencies"},
	{"schemes/wire/spool", nil, "large contents in files without a name: knows no form"},
	{"schemes/wire/bracket", []string{"schemes/wire", "schemes/wire/spool"}, "forms in bracket notation: knows no service"},
	{"schemes/wire/check", []string{"schemes/money", "schemes/wire"}, "rules of single fields that services share: text in, verdict out"},
	{"schemes/wire/rest/openapi/openapitest", nil, "judges documents by rules of its own"},
	{"schemes/wire/rest/openapi", []string{"schemes/wire", "schemes/wire/rest"}, "writes documents of described endpoints: knows no service"},
	{"schemes/contracts", []string{"schemes/aapay", "schemes/disputes", "schemes/fleet", "schemes/hosted", "schemes/methods", "schemes/onboarding", "schemes/paylinks", "schemes/payments", "schemes/tokens", "schemes/webhooks", "schemes/wire", "schemes/wire/check", "schemes/wire/rest", "schemes/wire/rest/openapi"}, "lists the services for the documents of both servers"},
	{"schemes/wire/rest", []string{"schemes/wire", "schemes/wire/check"}, "the engine of the services: knows none of them"},
	{"schemes/wire/wiretest", []string{"schemes/wire", "schemes/wire/rest"}, "replays transcripts against any service that is a table"},
	{"schemes/wire", nil, "strict JSON, Key, error codes"},
	{"schemes/backend", []string{"schemes/backend/...", "schemes/contracts", "schemes/wire/check", "schemes/wire/rest", "schemes/wire/rest/openapi", "schemes/methods", "schemes/aapay", "schemes/paylinks", "schemes/payments", "schemes/tokens", "schemes/onboarding", "schemes/disputes", "schemes/fleet", "schemes/hosted", "schemes/money", "schemes/wire", "store", "store/move", "store/sqlite"}, "opens and wires the embedded backend"},
	{"schemes/backend/books", []string{"schemes/money", "schemes/wire"}, "CORE: only writer of postings, no I/O"},
	{"schemes/backend/books/journal", []string{"schemes/backend/books", "schemes/money", "schemes/wire", "store"}, "keeps the books in the store"},
	{"schemes/backend/room/roomtest", []string{"cross/need", "schemes/backend/books/...", "schemes/backend/webhooks", "schemes/backend/pages/form", "schemes/backend/room", "schemes/backend/scenario", "schemes/money", "store", "store/postgres", "store/postgres/pgtest", "store/sqlite", "store/storetest"}, "what the tests of the backend's rooms stand on: knows no service"},
	{"schemes/backend/room", []string{"schemes/backend/pages/form", "schemes/backend/scenario", "schemes/money", "schemes/wire", "store"}, "what the rooms of the backend share: bytes and codes, no service"},
	{"schemes/backend/lease", []string{"store"}, "whose turn it is: knows no task"},
	{"schemes/backend/meter", []string{"schemes/wire", "store"}, "counts and writes down: knows errors of a store, no room and no service"},
	{"schemes/backend/payments", []string{"schemes/backend/books/...", "schemes/backend/webhooks", "schemes/backend/room", "schemes/backend/scenario", "schemes/backend/pages/...", "schemes/payments", "schemes/tokens", "schemes/webhooks", "schemes/money", "schemes/wire", "schemes/wire/check", "store"}, "the bank of payments and tokens: no other room of the backend beside the shared ones"},
	{"schemes/backend/onboarding", []string{"schemes/backend/webhooks", "schemes/backend/room", "schemes/backend/scenario", "schemes/onboarding", "schemes/webhooks", "schemes/wire", "schemes/wire/check", "store"}, "the onboarding desk: no other room of the backend beside the shared ones"},
	{"schemes/backend/fleet", []string{"schemes/backend/room", "schemes/backend/scenario", "schemes/fleet", "schemes/wire", "schemes/wire/check", "store"}, "the enrolment desk: no other room of the backend beside the shared ones"},
	{"schemes/backend/disputes", []string{"schemes/backend/room", "schemes/backend/scenario", "schemes/disputes", "schemes/money", "schemes/wire", "store"}, "the dispute desk: purchases and names of cards are functions of the bank's, given to it"},
	{"schemes/backend/scenario", []string{"schemes/money", "schemes/wire"}, "the table of simulated behaviour"},
	{"schemes/backend/webhooks", []string{"schemes/wire", "schemes/wire/check", "store"}, "sends bytes to addresses: knows no service"},
	{"schemes/backend/pages", []string{"schemes/money", "schemes/wire"}, "pages for a browser"},
	{"schemes/backend/pages/words", nil, "the texts of the payment pages, for rooms that must not import each other"},
	{"schemes/backend/pages/form", []string{"schemes/wire", "store"}, "the forms of all pages: a token is spent in its act's commit"},
	{"schemes/backend/aapay", []string{"schemes/backend/books/...", "schemes/backend/room", "schemes/backend/scenario", "schemes/backend/pages/...", "schemes/methods", "schemes/aapay", "schemes/money", "schemes/wire", "store"}, "the simulated wallets: no other room of the backend beside the shared ones"},
	{"schemes/backend/hosted", []string{"schemes/backend/books/...", "schemes/backend/webhooks", "schemes/backend/room", "schemes/backend/scenario", "schemes/backend/pages/...", "schemes/hosted", "schemes/money", "schemes/wire", "store"}, "hosted build and its fields: no other room of the backend beside the shared ones"},
	{"schemes/backend/paylinks", []string{"schemes/backend/books/...", "schemes/backend/webhooks", "schemes/backend/room", "schemes/backend/scenario", "schemes/backend/pages/...", "schemes/paylinks", "schemes/money", "schemes/wire", "store"}, "payment links and their page: no other room of the backend beside the shared ones"},
	{"schemes/backend/backendtest", []string{"..", "schemes/*", "schemes/*/*test"}, "the fixtures of the suites on the backend: knows every service, and no client of one"},
	{"schemes/paylinks", []string{"schemes/money", "schemes/wire", "schemes/wire/bracket", "schemes/wire/check", "schemes/wire/rest"}, "the payment-link service, whose requests are forms"},
	{"schemes/paylinks/paylinkstest", []string{"..", "schemes/wire", "schemes/wire/bracket", "schemes/wire/wiretest"}, "the conformance suite of the payment links, whose raw cases are forms"},
	{"schemes/*/*test", []string{"..", "schemes/money", "schemes/wire", "schemes/wire/wiretest"}, "the conformance suite of the service one level up"},
	{"schemes/*", []string{"schemes/money", "schemes/wire", "schemes/wire/check", "schemes/wire/rest", "schemes/wire/spool"}, "one contract each: services never import each other"},

	{"cross/postgres", []string{"store/postgres/pgserver"}, "starts the PostgreSQL server of a run"},
	{"cross/need", nil, "imported by tests everywhere"},
	{"cross/certs", nil, "certificates, imported by tests everywhere"},
	{"cross/program", nil, "imported by the campaigns that run the built binary: sees it from outside"},
	{"cross/customer", nil, "imported by the campaigns with a person at the page: sees it from outside"},
	{"cross/env", nil, "imported by the campaigns: the size and the seed that were asked for"},
	{"cross/engines", nil, "the suites of the backend's services on its other engine"},
	{"cross/tills", []string{"ecr/till", "schemes/money"}, "the registers of ecr/till for the campaigns: knows no terminal"},
	{"cross/campaign/kill", []string{"ecr/till/zvt", "schemes/money"}, "drives the built binary and reads the books by it"},
	{"cross/campaign/kill/point", nil, "woven into the binary under test: nothing of ours may come along"},
	{"cross/referee", nil, "judges the wire by rules of its own: agrees with nobody in error"},
	{"cross/stack", []string{"agent", "agent/checkout", "agent/checkout/drive", "agent/checkout/drive/journal", "agent/paylink", "agent/upstream", "cross/referee", "device/display", "ecr", "ecr/till/zvt", "ecr/zvt", "ecr/zvt/apdu", "ecr/zvt/frame", "ecr/zvt/protocol", "schemes/aapay", "schemes/backend", "schemes/methods", "schemes/money", "schemes/paylinks", "schemes/wire", "store", "store/sqlite"}, "the whole terminal with its backend and a register in one process, for the campaigns"},
	{"cross/stack/stacktest", []string{"cross/stack", "store/crashfs", "store/storetest"}, "the life of one terminal in a campaign"},
	{"cross/campaign/line", nil, "a campaign: test code only"},
	{"cross/campaign/upstream", nil, "a campaign: test code only"},
	{"cross/campaign/books", nil, "a campaign: test code only"},
	{"cross/decisions", nil, "a table that tests run through: data alone"},
	{"cross/campaign/disk", nil, "a campaign: test code only"},
	{"cross/campaign/enrol", nil, "a campaign: test code only"},
	{"cross/campaign/update", nil, "a campaign: test code only"},
	{"cross/campaign/million", nil, "a campaign: test code only"},
	{"cross/campaign/lossy", nil, "a campaign: test code only"},
	{"cross/campaign/change", nil, "a campaign: drives the built binary only"},
	{"cross/campaign/fleet", nil, "a campaign: test code only"},
	{"cross/mutants", nil, "a campaign: test code only"},
	{"cross/campaign/methods", nil, "a campaign: test code only"},
	{"cross/campaign/doctor", nil, "seeds faults: drives the built binary only"},
	{"cross/campaign/badinput", nil, "the attacker: drives the built binary only"},
	{"cross/build/fontgen", []string{"cross/build/fontgen/convert"}, "writes the letters of the screen"},
	{"cross/build/fontgen/convert", []string{"device/display/glyph/outline"}, "reads published fonts, which the program does not"},
	{"cross/bench", []string{"agent", "agent/gateway", "agent/outbox", "agent/upstream", "device", "device/line", "device/qr", "ecr/ecrtest/lines", "ecr/till", "ecr/till/zvt", "ecr/zvt/frame", "schemes/aapay", "schemes/backend", "schemes/disputes", "schemes/hosted", "schemes/methods", "schemes/paylinks", "schemes/payments", "schemes/wire", "store", "store/postgres", "store/postgres/pgserver", "store/sqlite"}, "measures the rooms and the built binary; agent for its schema alone"},
	{"cross/arm", []string{"schemes/wire/rest/openapi/openapitest"}, "drives the built binary only, and has its routes from the list that the servers are tested by"},
	{"cross/unit", []string{"cross/program"}, "filters what a command asks of the kernel; its test looks at the built binary"},
	{"cross/build/guest", nil, "runs on an emulated board beside the binary, which it looks at from outside"},
	{"cross/campaign/sim", []string{"agent/checkout", "agent/gateway", "agent/outbox", "cross/referee", "ecr", "ecr/zvt", "ecr/zvt/apdu", "schemes/aapay", "schemes/methods", "schemes/backend/books", "schemes/backend/scenario", "schemes/money", "schemes/wire"}, "plays days against the pure cores in virtual time"},
	{"cross/build/packages", nil, "packs the built binary, and asks it what it says of itself"},
	{"cross/check", nil, "judges every room, so depends on none"},
}

// engines says which file of a package alone names an engine of the store. Tests, campaigns and the store's own packages may.
var engines = map[string]string{
	"agent/journal.go":                      "opens the terminal's journal with its schema and its audit log",
	"cmd/posagent/engine.go":                "the verbs that handle the journal as a file: backup, restore, reset, reading",
	"schemes/backend/engine.go":             "opens the embedded backend's store",
	"cmd/posagent-backend/database.go":      "opens the database that processes share",
	"cmd/posagent-backend/doctor_checks.go": "judges what was read of its server",
}

// module is a row of the third-party table.
type module struct {
	path      string
	importers []string // patterns; each must match a package that imports it
	why       string
}

// modules says which room alone imports a third-party module.
var modules = []module{
	{"github.com/BurntSushi/toml", []string{"agent/config"}, "configuration is plain data everywhere else"},
	{"github.com/google/uuid", []string{"schemes/wire"}, "wire.Key is the only id made here"},
	{"github.com/hashicorp/go-retryablehttp", []string{"agent/upstream"}, "its defaults send a POST five times"},
	{"golang.org/x/image", []string{"device/display/glyph", "device/printer/printertest", "cross/build/fontgen", "cross/build/fontgen/convert"}, "letters are drawn on screens, and on the paper of tests; the program has its vector alone, 9 KiB on armv7"},
	{"github.com/skip2/go-qrcode", []string{"device/qr"}, "its renderings encode again on each call"},
	{"go.bug.st/serial", []string{"device/line"}, "a write on a closed port goes to whatever file reused the descriptor"},
	{"modernc.org/sqlite", []string{"store/sqlite", "store/crashfs"}, "no SQL engine outside the store"},
	{"github.com/jackc/pgx/v5", []string{"store/postgres", "store/postgres/pgserver", "store/postgres/pgtest", "cross/campaign/fleet"}, "PostgreSQL's protocol; 0 bytes on ARM: no terminal's program has it"},
	{"modernc.org/libc", []string{"store/crashfs"}, "comes with the SQLite engine, pinned to its version"},
	{"github.com/theupdateframework/go-tuf/v2", []string{"agent/lifecycle/update", "cmd/posagent-update", "cross/campaign/update"}, "the terminal itself does without it: posagent-update is a program of 10.1 MB on armv7"},
	{"github.com/sigstore/sigstore", []string{"cmd/posagent-update", "cross/campaign/update"}, "go-tuf signs through its interface"},
	{"golang.org/x/term", []string{"cmd/posagent", "cmd/posagent-backend"}, "only the command line meets people"},
}

// anywhere are modules that any package may import, testOnly those for tests and conformance suites.
var (
	anywhere = []string{"golang.org/x/sync", "golang.org/x/sys"}
	testOnly = []string{"testing", "github.com/stretchr/testify/require", "pgregory.net/rapid", "github.com/rogpeppe/go-internal", "golang.org/x/tools/txtar"}
	suites   = []string{"schemes/*/*test", "schemes/wire/rest/openapi/openapitest", "schemes/backend/room/roomtest", "store/storetest", "store/postgres/pgtest", "ecr/ecrtest", "agent/checkout/drive/drivetest", "cross/need", "cross/program", "cross/certs", "cross/env", "cross/stack/stacktest", "cmd/usage/usagetest"} // packages made of test code
)

// cores do no I/O and have no clock.
var cores = []string{"agent/intent", "agent/checkout", "ecr/zvt", "ecr/jsonl", "ecr/caisseap", "ecr/ecr17", "schemes/backend/books"}

// Limits of a file in lines.
const (
	maxLines     = 500
	maxTestLines = 1000
)

// longFiles are files over the limit, with the reason.
var longFiles = map[string]string{}

// sleepers are files that call time.Sleep outside a synctest bubble, with the reason.
var sleepers = map[string]string{
	"agent/checkout/drive/rig_test.go":     "lets virtual time pass, used inside a bubble only",
	"agent/paylink/rig_test.go":            "lets virtual time pass, used inside a bubble only",
	"agent/gateway/rig_test.go":            "lets virtual time pass, used inside a bubble only",
	"agent/outbox/rig_test.go":             "lets virtual time pass, used inside a bubble only",
	"schemes/backend/webhooks/rig_test.go": "lets virtual time pass, used inside a bubble only",
	"ecr/till/zvt/register_test.go":        "the script's word for waiting, used inside a bubble only",
	"ecr/zvt/frame/link_test.go":           "a line that times out, used inside a bubble only",
	"cross/campaign/update/rig_test.go":    "the init system of a box waits before a start, and a fault of the program has its moment",
}

// sizeFlags leave out HTTP/2, which brings a terminal nothing, and what a debugger reads.
var sizeFlags = []string{"-trimpath", "-tags", "nethttpomithttp2", "-ldflags=-s -w"}

// timed are the files of tests whose literal times are no limits of a wait, with the reason.
var timed = map[string]string{
	"agent/checkout/drive/crash_test.go":        "virtual time: a rig makes the bubble",
	"agent/checkout/drive/field_test.go":        "virtual time: a rig makes the bubble",
	"agent/checkout/drive/last_test.go":         "virtual time: a rig makes the bubble",
	"agent/checkout/drive/money_a_test.go":      "virtual time: a rig makes the bubble",
	"agent/checkout/drive/store_test.go":        "virtual time: a rig makes the bubble",
	"agent/checkout/money_test.go":              "the limits of a sale, which the core only names: nothing waits",
	"agent/gateway/aapay_test.go":               "how late an undo is asked for again: nothing waits",
	"agent/gateway/front_test.go":               "virtual time: a rig makes the bubble",
	"agent/gateway/powercut_test.go":            "virtual time: what is recorded and verified lives in bubbles",
	"agent/outbox/all_test.go":                  "two readings of one moment are compared: nothing waits",
	"agent/outbox/life_test.go":                 "virtual time: a rig makes the bubble",
	"agent/outbox/outbox_test.go":               "virtual time: a rig makes the bubble",
	"agent/counter/printqueue/checkout_test.go": "virtual time, in a helper of bubbles",
	"agent/counter/printqueue/deaths_test.go":   "virtual time, in a helper of bubbles",
	"agent/paylink/crash_test.go":               "virtual time: a rig makes the bubble",
	"agent/progress_test.go":                    "how long it looks for what must not come",
	"cmd/posagent/poll_test.go":                 "holds pauses that are drawn to their bounds, and waits for none",
	"cross/campaign/badinput/port_test.go":      "a hostile client: how long it writes and reads no reply",
	"cross/campaign/badinput/upstream_test.go":  "a hostile backend: how late it answers",
	"cross/campaign/disk/clients_test.go":       "virtual time: a story runs in a bubble",
	"cross/campaign/disk/dialogue_test.go":      "virtual time: stacktest opens the bubble",
	"cross/campaign/doctor/doctor_test.go":      "make doctor-bench judges that an examination takes less than ten seconds",
	"cross/campaign/doctor/faults_test.go":      "a backend that stalls, and a list that gets old: a fault takes its time",
	"cross/campaign/line/away_test.go":          "virtual time: stacktest opens the bubble",
	"cross/campaign/line/restarts_test.go":      "virtual time: stacktest opens the bubble",
	"cross/campaign/line/tills_test.go":         "virtual time: stacktest opens the bubble",
	"cross/campaign/lossy/links_test.go":        "virtual time: a campaign is played in a bubble",
	"cross/campaign/lossy/shop_test.go":         "virtual time: a campaign is played in a bubble",
	"cross/campaign/upstream/upstream_test.go":  "virtual time: stacktest opens the bubble",
	"device/printer/open_internal_test.go":      "a deadline that has to pass: no load makes it fail",
	"ecr/caisseap/protocol/conform_test.go":     "virtual time, in a helper of bubbles",
	"ecr/ecr17/protocol/lost_test.go":           "virtual time, in a helper of bubbles",
	"ecr/ecr17/protocol/wire_test.go":           "virtual time, in a helper of bubbles",
	"ecr/ecrtest/asked.go":                      "virtual time, in a helper of bubbles",
	"ecr/ecrtest/rig.go":                        "virtual time, in a helper of bubbles",
	"ecr/ecrtest/run.go":                        "virtual time, in a helper of bubbles",
	"ecr/ecrtest/toy/toy_test.go":               "virtual time, in a helper of bubbles",
	"ecr/session/gone_test.go":                  "virtual time, in a helper of bubbles",
	"ecr/session/time_test.go":                  "virtual time, in a helper of bubbles",
	"ecr/socket/socket_test.go":                 "a deadline that has to pass: no load makes it fail",
	"ecr/torture/torture_test.go":               "virtual time, in a helper of bubbles",
	"store/postgres/many_test.go":               "connections lie idle for a second before the pool asks them, which is its behaviour",
	"store/sqlite/write_test.go":                "ends what waits for a reader that never ends",
}
