package mutants

// ofAgent is every broken rule of the rest of the terminal: port, readiness, start, verbs and what is shown.
var ofAgent = []mutant{
	{"doctor opens the register's line", "device/line", "TestLookNamesWhatKeepsALineShut", []edit{
		{"device/line/look.go", `if err := unix.Access(path, unix.R_OK|unix.W_OK); err != nil {`, `if fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0); err != nil || unix.Close(fd) != nil {`},
	}},
	{"doctor looks at a line that is locked and does not see it", "device/line", "TestLookNamesWhatKeepsALineShut", []edit{
		{"device/line/look.go", `unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)`, `unix.LOCK_SH|unix.LOCK_NB), unix.EINVAL)`},
	}},
	{"a line that another program has is opened", "device/line", "TestALineIsLockedWithoutACommonLockFile", []edit{
		{"device/line/lock.go", `err := flock(device)`, `err := error(nil)`},
	}},
	{"a line whose name leads elsewhere is kept", "device/line", "TestANameThatLeadsElsewhereWhileItIsOpened", []edit{
		{"device/line/open.go", `if named.Rdev != opened.Rdev || named.Ino != opened.Ino || named.Dev != opened.Dev {`, `if named.Dev != opened.Dev {`},
	}},

	// Sealed, and verified.
	{"a purged operation's data key kept", "cmd/posagent", "TestNothingOfAPurgedCardOperationIsLeft", []edit{
		{"agent/outbox/purge.go", `if err := o.db.Shred(tx, table, r.key); err != nil {`, `if err := error(nil); err != nil {`},
	}},
	{"an ended operation's data key kept until its purge", "cmd/posagent", "TestNothingOfAPurgedCardOperationIsLeft", []edit{
		{"agent/outbox/step.go", `if err := o.db.Shred(tx, table, r.key); err != nil {`, `if err := error(nil); err != nil {`},
	}},
	{"what is deleted is not overwritten", "cmd/posagent", "TestNothingOfAPurgedCardOperationIsLeft", []edit{
		{"store/sqlite/conn.go", `&_pragma=secure_delete(1)`, `&_pragma=secure_delete(0)`},
		{"store/sqlite/conn.go", `{"secure_delete", "1"}`, `{"secure_delete", "0"}`},
	}},
	{"the log is not truncated after a purge", "cmd/posagent", "TestNothingOfAPurgedCardOperationIsLeft", []edit{
		{"store/seal.go", "\tk.of.Shredded()\n", ""},
	}},
	{"the old device key forgotten before everything is wrapped anew", "cmd/posagent", "TestRotationIsEndedAfterAKillAtAnyStep", []edit{
		{"cmd/posagent/keys.go", `if err := db.Rewrap(ctx, next,`, "if err := device.ForgetOld(keyDir(c)); err != nil {\n\t\treturn err\n\t}\n\tif err := db.Rewrap(ctx, next,"},
		{"cmd/posagent/keys.go", "if err := device.ForgetOld(keyDir(c)); err != nil {\n\t\treturn fail", "if err := error(nil); err != nil {\n\t\treturn fail"},
	}},
	{"a change of the device key leaves out the secrets", "cmd/posagent", "TestRotationIsEndedAfterAKillAtAnyStep", []edit{
		{"store/rewrap.go", "SELECT name, value FROM store_meta WHERE name = 'mac_key' OR", "SELECT name, value FROM store_meta WHERE name = 'mac_key' AND 1 OR 0 AND"},
	}},
	{"the amount of an audit line outside its link", "agent/records/audit", "TestField_P2RemovedOrChangedLinesAreNamed", []edit{
		{"agent/records/audit/chain.go", `l.Deed.Deed, l.Subject, l.Amount, l.Currency`, `l.Deed.Deed, l.Subject, l.Currency`},
	}},
	{"strangers push deeds out of the audit log", "agent/records/audit", "TestField2_A5StrangersPushNoDeedOut", []edit{
		{"agent/records/audit/noise.go", `if n <= most {`, `if n <= most || true {`},
	}},
	{"dropped audit lines that nobody vouches for", "agent/records/audit", "TestField2_A5StrangersPushNoDeedOut", []edit{
		{"agent/records/audit/noise.go", `&& l == droppedLine(mac, l.Amount, l.ID, l.At, link)`, ``},
	}},
	{"each loopback address is a visitor", "agent/records/audit", "TestField2_A5OneVisitorIsOneLine", []edit{
		{"agent/records/audit/refused.go", `return "loopback"`, `return a.String()`},
	}},
	{"a card number as a name is kept in clear", "agent/checkout/drive", "TestField2_A3ACardNumberAsANameStandsNowhere", []edit{
		{"agent/intent/name.go", `if masked == part {`, `if masked != "" {`},
	}},
	{"two card numbers as names are one", "agent/checkout/drive", "TestField2_A3ACardNumberAsANameStandsNowhere", []edit{
		{"agent/intent/name.go", `range by.MAC("names of callers", part)[:8]`, `range by.MAC("names of callers", masked)[:8]`},
	}},
	{"a number before a card number uncovers it", "schemes/wire", "TestField2_A4NoNumberUncoversACardNumber", []edit{
		{"schemes/wire/pan.go", `out[at[from+i]] = '*'
				}`, `out[at[from+i]] = '*'
				}
				from += n
				break`},
	}},
	{"an audit line not chained to the one before", "agent/records/audit", "TestField_P2RemovedOrChangedLinesAreNamed", []edit{
		{"agent/records/audit/chain.go", `strconv.FormatInt(l.ID, 10), before, l.At`, `strconv.FormatInt(l.ID, 10), l.At`},
	}},
	{"the newest audit lines removed unseen", "agent/records/audit", "TestField_P2RemovedOrChangedLinesAreNamed", []edit{
		{"agent/records/audit/read.go", `case last > v.Last:`, `case false:`},
		{"agent/records/audit/read.go", `case *head != headOf(v.Last, link):`, `case false:`},
	}},
	{"the purge of the audit log leaves no anchor", "agent/records/audit", "TestPurgeLeavesAnAnchor", []edit{
		{"agent/records/audit/read.go", `floor, link, err := anchor(r)`, `floor, link, err := int64(0), []byte(nil), error(nil)`},
	}},
	{"an audit log that was cut while the terminal was stopped goes on as if nothing were", "agent/records/audit", "TestStartRemembersWhatIsGone", []edit{
		{"agent/records/audit/read.go", `if found == head || head == (Head{}) && last == 0 {`, `if found == head || true {`},
	}},
	{"a verb that was interrupted says that the backend is away", "cmd/posagent", "TestEveryExitCode", []edit{
		{"cmd/posagent/main.go", `if ctx.Err() != nil && (e.Code ==`, `if false && (e.Code ==`},
	}},
	{"a sale begins without an audit line", "cmd/posagent", "TestScripts", []edit{
		{"agent/checkout/drive/journal/rows.go", `if err == nil && j.opt.Record != nil {`, `if err == nil && j.opt.Record != nil && false {`},
	}},
	{"what a timer does is put down to the register", "agent", "TestField_P2ProgramDeeds", []edit{
		{"agent/deeds.go", `if name, own := causes[why]; own {`, `if name, own := causes[why]; own && false {`},
	}},
	{"freed card data is not overwritten", "cmd/posagent", "TestField_P11NoCardDataStaysInMemory", []edit{
		{"agent/scrub/scrub.go", "\tfill(new(room))\n", ""},
	}},
	{"what a call has left on the stack stays", "agent/scrub", "TestStackOverwritesWhatIsBelow", []edit{
		{"agent/scrub/stack.go", `func Stack() { below() }`, `func Stack() {}`},
	}},
	{"a core of the terminal may be written", "cmd/posagent", "TestField_P11NoCardDataStaysInMemory", []edit{
		{"device/core.go", `err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})`, `err := error(nil)`},
	}},
	{"a planted link is taken for the port's token", "cmd/posagent", "TestField_P12PlantedTokenIsRefused", []edit{
		{"cmd/posagent/trusted_files.go", `file.Open(path, file.NoFollow)`, `file.Open(path, file.Follow)`},
	}},
	{"a state directory that others can write is used", "cmd/posagent", "TestField_P12StateDirectoryOfOthersIsRefused", []edit{
		{"cmd/posagent/state.go", `return ownDir(c.stateDir(), os.Geteuid())`, `return nil`},
	}},

	// At most one effect at the backend.
	{"the client's key of a link is not stored with it, and the terminal dies", "cross/campaign/kill", "TestKillClients", []edit{
		{"agent/gateway/put.go", "if w.key != \"\" {\n\t\tif now", "if w.key != \"\" && w.row.Service != Paylinks {\n\t\tif now"},
		{"agent/gateway/keys.go", "if w.key == \"\" {", "if w.key == \"\" || w.row.Service == Paylinks {"},
	}},
	{"a real terminal goes on with a journal whose log was damaged", "cross/campaign/kill", "TestField_J1DamagedLogsOfRealTerminals", []edit{
		{"store/marks/judge.go", `case row.End.Sequence < m.End.Sequence:`, `case false:`},
	}},
	{"a terminal whose backup was put back says that its journal was cut", "cross/campaign/kill", "TestField_J1NoFalseAlarm", []edit{
		{"store/marks/judge.go", `case row.Flags&RowRestored != 0 && (!e.Mark.OK`, `case false && (!e.Mark.OK`},
	}},
	{"the client's key of a token is not stored with it, and the terminal dies", "cross/campaign/kill", "TestKillClients", []edit{
		{"agent/gateway/put.go", "if w.key != \"\" {\n\t\tif now", "if w.key != \"\" && w.row.Service != Tokens {\n\t\tif now"},
		{"agent/gateway/keys.go", "if w.key == \"\" {", "if w.key == \"\" || w.row.Service == Tokens {"},
	}},
	{"an operation's data key stays in its row", "cmd/posagent", "TestNothingOfAPurgedCardOperationIsLeft", []edit{
		{"agent/outbox/step.go", `r.payload, r.memo, r.dataKey = nil, nil, nil`, `r.payload, r.memo = nil, nil`},
	}},
	{"an unkeyed write is repeated by the client", "agent/upstream", "TestRepeats", []edit{
		{"agent/upstream/upstream.go", `&call{repeatable: read &&`, `&call{repeatable: true || read &&`},
	}},
	{"a 401 to a repeat is proof that nothing happened", "agent/upstream", "TestField2_M17RefusedAfterALostTry", []edit{
		{"agent/upstream/upstream.go", `if err == nil && policy.lost && `, `if err == nil && false && `},
	}},
	{"any key of the chain will do for a pin", "agent/upstream", "TestWrongPinNamesItsRemedy", []edit{
		{"agent/upstream/transport.go", `if pins[string(sum[:])] {`, `if true || pins[string(sum[:])] {`},
	}},
	{"a sale waits as long as a service wishes", "agent/checkout/drive", "TestField2_N2AWishToWaitEndsASaleAtOnce", []edit{
		{"agent/checkout/timers.go", `atTheCounter = 5 * time.Second`, `atTheCounter = time.Hour`},
	}},
	{"a service's wish to wait is forgotten after its sale", "agent/checkout/drive", "TestField2_N2AWishToWaitEndsASaleAtOnce", []edit{
		{"agent/checkout/drive/perform/send.go", `p.until[row.Method.Name] = p.boot() + retryAfter(err)`, `p.until[row.Method.Name] = 0`},
	}},
	{"a token service that said no is asked at once", "agent/upstream", "TestField2_N6ATokenServiceThatSaysNo", []edit{
		{"agent/upstream/auth.go", `f == nil && z.last != nil &&`, `false && z.last != nil &&`},
	}},
	{"a token is used until the backend refuses it", "agent/upstream", "TestTokenIsRenewedBeforeItExpires", []edit{
		{"agent/upstream/auth.go", `z.token != "" && left > 0 &&`, `z.token != "" && left > -time.Hour &&`},
	}},
	{"transport repeats on a dead idle connection", "agent/upstream", "TestDeadIdleConnectionsDoNotMultiplyTries", []edit{
		{"agent/upstream/transport.go", `out.GetBody = nil //`, `//`},
	}},
	{"a connection that says nothing keeps its place", "agent/port", "TestSilentConnectionsMakeRoom", []edit{
		{"agent/port/connections.go", `case s != http.StateNew && s != http.StateIdle:`, `case s != http.StateIdle:`},
	}},
	{"a bar where nobody can see one", "cmd/posagent", "TestProgress", []edit{
		{"cmd/posagent/ops_send.go", `	if d.tty {
		d.draw()
		return
	}`, `	d.tty = true
	d.draw()
	if d.tty {
		return
	}`},
	}},
	{"a restore forgets what the backup has not", "cmd/posagent", "TestScripts", []edit{
		{"cmd/posagent/restore.go", "if sales+ops > 0 {\n\t\treturn fail(exitRefused,", "if sales+ops < 0 {\n\t\treturn fail(exitRefused,"},
	}},
	{"a restore makes a key before it refuses", "cmd/posagent", "TestMoneyC_AJournalWithoutItsKeyIsKept", []edit{
		{"cmd/posagent/restore.go", `if _, err := device.LoadKeys(keyDir(c)); err != nil`, `if _, err := device.OpenKeys(keyDir(c)); err != nil`},
	}},
	{"a journal that no key opens is deleted", "cmd/posagent", "TestMoneyC_AJournalWithoutItsKeyIsKept", []edit{
		{"cmd/posagent/reset_locked.go", `err = fileOf(c).putAside(ctx, filepath.Join(kept, filepath.Base(agentDB(c))))`, `err = fileOf(c).remove(ctx, true)`},
	}},
	{"a journal is put aside though its key is whole", "cmd/posagent", "TestAKeyOfAnotherModeIsNotLost", []edit{
		{"device/keys.go", `return nil, fmt.Errorf("%w: %s has mode %04o, want 0600", ErrKeyFile, path,`, `return nil, fmt.Errorf("%w: %s has mode %04o, want 0600", ErrKeyDamaged, path,`},
	}},
	{"a repeat is sent under another key after the device key was lost", "agent/outbox", "TestPastNamesWhatHappened", []edit{
		{"agent/outbox/restored.go", `locked := l.Kind == store.WasLocked`, `locked := l.Kind == "never"`},
	}},
	{"the lock of another program is waited for", "cmd/posagent", "TestNoVerbWaitsForAPipeAsLock", []edit{
		{"store/sqlite/lock.go", `if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() { // of`, `if fi, err := f.Stat(); err != nil || fi == nil { // of`},
	}},
	{"the newest rows are not compared", "cmd/posagent", "TestScripts", []edit{
		{"store/rows.go", `if there > 0 {`, `if there >= 0 {`},
	}},
	{"the end of the day hides an undone payment", "agent/checkout/drive", "TestMoneyB13_EndOfDay", []edit{
		{"agent/checkout/drive/journal/batch.go", `if row.Undone() && row.State.Phase == checkout.Done {`, `if row.Undone() && row.Receipt == 0 {`},
	}},
	{"a terminal that cannot draw gets a bar", "cmd/posagent", "TestScripts", []edit{
		{"cmd/posagent/output.go", ` && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"`, ``},
	}},
	{"ready on a full disk", "agent", "TestReadyOnAFullDisk", []edit{
		{"agent/readiness.go", `err := a.o.DB.Reserved(ctx) //`, `err := a.o.DB.Health(ctx).Err //`},
	}},
	{"ready while a cable is pulled", "agent/ready", "TestField_U2WhenARegisterMayAsk", []edit{
		{"agent/ready/ready.go", `case len(f.Closed) > 0:`, `case len(f.Closed) == f.Lines:`},
	}},
	{"ready though the credentials are refused", "agent/ready", "TestField_U2WhenARegisterMayAsk", []edit{
		{"agent/ready/ready.go", `if !t.Cause.Passes() {`, `if !f.Held && !t.Cause.Passes() {`},
	}},
	{"ready with credentials that nobody has accepted", "cmd/posagent", "TestField_U2OfflineIsReadyOnceProven", []edit{
		{"agent/readiness.go", `j.read, j.stored = true, bytes.Equal(was, mac)`, `j.read, j.stored = true, bytes.Equal(was, mac) || was != nil`},
	}},
	{"a login page is the backend", "agent/upstream", "TestField_U3FaultsByTheirReplies", []edit{
		{"agent/upstream/fault.go", `case resp.StatusCode < 300 &&`, `case resp.StatusCode < 200 &&`},
	}},
	{"a monitor reads ready on a full disk", "agent", "TestReadyOnAFullDisk", []edit{
		{"agent/view/metrics.go", `bit(h.DB.Reserved(ctx) == nil)`, `bit(h.DB.Health(ctx).Err == nil)`},
	}},
	{"status says nothing of a full disk", "agent", "TestReadyOnAFullDisk", []edit{
		{"agent/view/daemon.go", "\tv.Disk(health)\n", "\t_ = health\n"},
	}},
	{"status names too little space to free", "agent/view", "TestStatusDiskFull", []edit{
		{"agent/view/status.go", `h.ShortBytes>>10+1`, `h.ShortBytes>>20+1`},
	}},
	{"status says nothing of operations that cannot leave", "agent/view", "TestStatusWaitingOperations", []edit{
		{"agent/view/status.go", `case n == 0: //`, `case true: //`},
	}},
	{"refused credentials read like a network that is down", "agent/view", "TestStatusWaitingOperations", []edit{
		{"agent/view/status.go", `	case s.Refused:`, `	case false:`},
	}},
	{"status asks for help where nothing waits", "agent/view", "TestStatusWaitingOperations", []edit{
		{"agent/view/status.go", `case n == 0: //`, `case false: //`},
	}},
	{"a sum without a currency is not shown", "agent/view", "TestOpsCountTotal", []edit{
		{"agent/view/status.go", `	case o.Sum == 0:`, `	case true:`},
	}},
	{"a redirect is followed", "agent", "TestHostileReplies", []edit{
		{"agent/upstream/upstream.go", `CheckRedirect: func(*http.Request, []*http.Request) error { return ErrRedirect },`, `CheckRedirect: nil,`},
	}},
	{"a page of somebody else is the service's own word", "agent", "TestHostileReplies", []edit{
		{"schemes/wire/problem.go", `e.Code = c.byStatus(a.Status, own, keyed)`, `e.Code = c.byStatus(a.Status, true, keyed)`},
	}},
	{"old TLS is good enough", "agent/upstream", "TestNothingIsSentOverBadTLS", []edit{
		{"agent/upstream/transport.go", `MinVersion: tls.VersionTLS12`, `MinVersion: tls.VersionTLS10`},
	}},
	{"the backend's name is not looked at", "agent/upstream", "TestNothingIsSentOverBadTLS", []edit{
		{"agent/upstream/transport.go", `MinVersion: tls.VersionTLS12`, `InsecureSkipVerify: true, MinVersion: tls.VersionTLS12`},
	}},
	{"a stolen key is let in without its pin", "agent/upstream", "TestARevokedKeyIsShutOutByItsPin", []edit{
		{"agent/upstream/transport.go", "\t\t\t\tfault = errPin\n", "\t\t\t\treturn nil\n"},
	}},
	{"a card number of escaped pieces is not masked", "agent", "TestNoPathLeavesACardNumber", []edit{
		{"schemes/wire/pan.go", `case hex == "20" ||`, `case false ||`},
	}},
	{"a card number that is escaped twice is not masked", "agent", "TestNoPathLeavesACardNumber", []edit{
		{"schemes/wire/pan.go", `for strings.HasPrefix(s[j:], "25") {`, `for false {`},
	}},
	{"why the backend is away names a card number", "agent", "TestNoPathLeavesACardNumber", []edit{
		{"agent/upstream/upstream.go", `c.circuit.failed(wire.MaskPANs(err.Error()))`, `c.circuit.failed(err.Error())`},
	}},
	{"a stranger's request keeps its place", "agent/port", "TestStrangersMakeRoom", []edit{
		{"agent/port/connections.go", `case s == http.StateActive && !c.proven:`, `case false:`},
	}},
	{"a request under way is cut for strangers though it is known who asks", "agent/port", "TestStrangersMakeRoom", []edit{
		{"agent/port/connections.go", "\tc.proven = true\n\tl.forget(c)\n", ""},
	}},
	{"a client's idle connection is cut before a stranger's", "agent/port", "TestStrangersMakeRoom", []edit{
		{"agent/port/connections.go", `	c.kind = idle`, `	c.kind = silent`},
	}},
	{"a stranger has the time of a client for its body", "agent/port", "TestStrangersHaveLittleTime", []edit{
		{"agent/port/port.go", `ReadTimeout:    proofTime,`, `ReadTimeout: readTime,`},
	}},
	{"a stranger is answered when its body is there", "agent/port", "TestStrangersHaveLittleTime", []edit{
		{"agent/port/answers.go", `w.Header().Set("Connection", "close")`, ``},
	}},
	{"a client does what its words do not name", "agent/port", "TestField_P1EachOperationWantsItsWord", []edit{
		{"agent/port/permissions.go", `return wire.Allow(ctx, a.Op, word)`, `return wire.Allow(ctx, a.Op, wire.MayRead)`},
	}},
	{"a client gives money back by a link with the word for links alone", "agent/port", "TestField_P1EachLinkOperationWantsItsWords", []edit{
		{"schemes/paylinks/api.go", `May: []string{wire.MayLinks, wire.MayRefund}`, `May: links`},
	}},
	{"a client lists the transactions of others", "agent/port", "TestField_P1EachLinkOperationWantsItsWords", []edit{
		{"agent/port/permissions.go", `return wire.Everything(ctx, a.Op, a.What)`, `return nil`},
	}},
	{"a local client reaches what others made", "cmd/posagent", "TestField_P1AlphaReachesNothingOfBetas", []edit{
		{"agent/port/clients.go", `who.Own = !slices.Contains(who.Words, wire.MayAll)`, `who.Own = slices.Contains(who.Words, "")`},
	}},
	{"the register's sale is reversed past the checkout", "cmd/posagent", "TestField_P1AlphaReachesNothingOfBetas", []edit{
		{"agent/ownership/schemes.go", `case err != nil || name == "":`, `case err != nil || name == name:`},
	}},
	{"a client pays with another's token", "cmd/posagent", "TestField_P1AlphaReachesNothingOfBetas", []edit{
		{"agent/gateway/owner.go", `	if !caller.Own || token == "" {`, `	if !caller.Own || token != "" {`},
	}},
	{"who only names a client takes its places for payment links", "agent/port", "TestClients", []edit{
		{"agent/port/services.go", `g.calling(maxLinkBody, answered("instance and secret", false, fail, h))`,
			`g.calling(maxLinkBody, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				g.byInstance(r.URL.Query().Get(paylinks.InstanceParam), instance).paced(w, r, fail, answered("instance and secret", false, fail, h))
			}))`},
	}},
	{"the backend's refusal of the terminal reads like a wrong signature of a link's client", "agent/port", "TestTheTerminalsOwnCredentials", []edit{
		{"agent/port/services.go", "\t\t\t\tanswer.proven = true\n", ""},
	}},
	{"a register line is open to the network without a word", "agent/config", "TestField_L3OpenLineIsRefused", []edit{
		{"agent/config/registers.go", `(len(e.Allow) == 0 || e.everywhere()) && !e.Open {`, `len(e.Allow) == 0 && e.Open {`},
	}},

	// Told, and undone.
	{"another terminal goes on with a journal in which nothing is open", "agent", "TestField_J6AJournalBelongsToOneTerminal", []edit{
		{"agent/bind.go", `sales > 0 || ops > 0 || identity(was) != identity(name)`, `sales > 0 || ops > 0`},
	}},
	{"a key is made beside a journal that lacks it", "cmd/posagent", "TestField_J6NoKeyIsMadeBesideAJournal", []edit{
		{"cmd/posagent/keys.go", `load = device.LoadKeys //`, `load = device.OpenKeys //`},
	}},
	{"a row that is removed lowers the highest number", "agent", "TestField_J9ARemovedRowLeavesAGap", []edit{
		{"agent/records/deletedrows/gaps.go", `max(was.Highest, highest)}`, `highest}`},
	}},
	{"the number of a removed operation is given again", "agent", "TestField_J9ARemovedRowLeavesAGap", []edit{
		{"agent/outbox/accept.go", `?) + 1` + "`" + `, o.lastID).Scan(&r.id)`, `?) + 1` + "`" + `, 0).Scan(&r.id)`},
	}},
	{"a terminal's token makes and revokes enrolment codes", "schemes/backend", "TestFleetCredentials", []edit{
		{"schemes/backend/fleet.go", `desk := g.operator(`, `desk := g.problem(`},
	}},
	{"an attempt that was under way puts off what was to be sent at once", "agent/outbox", "TestSendNowDuringAnAttempt", []edit{
		{"agent/outbox/service.go", `f.service != nil && f.service.asked != f.asked`, `false`},
	}},
	{"an operation is sent again before it has rested, by a schedule read before its answer", "agent/outbox", "TestAnOldScheduleMakesNoAttempt", []edit{
		{"agent/outbox/attempt.go", `if r.nextRun > o.clock.run() {`, `if r.nextRun > o.clock.run() && false {`},
	}},
	{"a watch forgets, while it counts again, what it found", "agent/records/deletedrows", "TestWatchFindsWhatIsGoneInPieces", []edit{
		{"agent/records/deletedrows/gaps.go", `if o.was.rows > lost.rows {`, `if o.was.rows < lost.rows {`},
	}},
	{"a watch counts the first rows again and again", "agent/records/deletedrows", "TestWatchFindsWhatIsGoneInPieces", []edit{
		{"agent/records/deletedrows/gaps.go", `o.upTo = in.Highest`, `o.upTo = 0`},
	}},
	{"a gap among the rows is not said", "agent", "TestField_J9ARemovedRowLeavesAGap", []edit{
		{"agent/records/deletedrows/gaps.go", `if lost.rows <= 0 {`, `if lost.rows >= 0 {`},
	}},

	// Enrolment.
	{"a new box's journal leads the receipts back", "agent/checkout/drive/journal", "TestNumbersGoOnBehindTheLaterJournal", []edit{
		{"agent/checkout/drive/journal/numbers.go", `case seen == 0, theirs.Batch < ours.Batch:`, `case false:`},
	}},
	{"repeats of one till take the pool of all", "schemes/backend/room", "TestField2_G6RepeatsOfOneTillLeaveThePoolToOthers", []edit{
		{"schemes/backend/room/turn.go", `t.free <- struct{}{}
		all.by[name] = t`, `t.free = make(chan struct{}, 100)
		for range 100 {
			t.free <- struct{}{}
		}
		all.by[name] = t`},
	}},
	{"a pooler's word is a server's that does not run", "store/postgres", "TestField2_G6APoolersWordsAreTold", []edit{
		{"store/postgres/pooler.go", `pg.Code == "08P01"`, `pg.Code == "08P02"`},
	}},
	{"a list of every address opens a line", "agent/config", "TestField2_D2WhatAStrangerGuessesIsNamed", []edit{
		{"agent/config/registers.go", `(len(e.Allow) == 0 || e.everywhere())`, `len(e.Allow) == 0`},
	}},
	{"a sale asked for under its key is no list", "agent/port/salesapi", "TestField2_U2OneSaleEverywhere", []edit{
		{"agent/port/salesapi/answer.go", `r.Method != http.MethodGet || r.PathValue("id") != ""`, `r.Method == http.MethodGet || r.PathValue("id") != ""`},
	}},
	{"wrong codes keep a good one out", "schemes/backend/fleet", "TestField2_G5NoStrangerLocksAGoodCodeOut", []edit{
		{"schemes/backend/fleet/fleet.go", `if wire.ReasonOf(err) == fleet.CodeNotGood {`, `if err == nil || wire.ReasonOf(err) == fleet.CodeNotGood {`},
	}},
	{"a caller behind a proxy chooses its address", "schemes/backend", "TestField2_G5TheAddressBehindAProxy", []edit{
		{"schemes/backend/proxies.go", `i >= 0 && trusted(at); i--`, `i >= 0; i--`},
	}},
	{"a box believes any fleet", "agent/lifecycle/enrol", "TestOnlyTheOperatorIsBelieved", []edit{
		{"agent/lifecycle/enrol/drive.go", `fleet.Verify(got, s.e.Fingerprint,`, `fleet.Verify(got, "",`},
	}},
	{"a configuration is used whoever has signed it", "agent/lifecycle/enrol", "TestANewerConfiguration", []edit{
		{"agent/lifecycle/enrol/drive.go", `err = fleet.VerifyRevision(authority, s.e.ID, rev)`, `_ = authority`},
	}},
	{"a configuration is confirmed before it was tried", "agent/lifecycle/enrol", "TestABrokenStepGoesOn", []edit{
		{"agent/lifecycle/enrol/drive.go", `err = s.Try(ctx, Trial{Revision: rev.Number, Text: rev.Text, Certificate: pair})`, `_ = pair`},
	}},
	{"a code that was refused is asked for again and again", "agent/lifecycle/enrol", "TestARefusedCodeLeavesTheRest", []edit{
		{"agent/lifecycle/enrol/drive.go", `if last(err) || errors.Is(err, ErrNotHere) {`, `if last(err) && false {`},
	}},
	{"a revoked box forgets it", "agent/lifecycle/enrol", "TestARevokedBoxRemembersIt", []edit{
		{"agent/lifecycle/enrol/drive.go", `return 0, errors.Join(&RefusedError{err}, b.write(r))`, `return 0, &RefusedError{err}`},
	}},
	{"money that is open is left behind by another enrolment", "agent/lifecycle/enrol", "TestWhatWasChosenWaitsForOpenMoney", []edit{
		{"agent/lifecycle/enrol/box.go", `if waits && r.Waits && r.Before != nil && r.Gave == 0 {`, `if false {`},
	}},
	{"the readiness under one enrolment proves another", "agent/lifecycle/enrol", "TestWhatWasChosenWaitsForOpenMoney", []edit{
		{"agent/lifecycle/enrol/revision.go", `r.Now != nil && r.Now.ID == id && r.Active == number`, `r.Now != nil && r.Active == number`},
	}},
	{"an old trial is believed", "agent/lifecycle/enrol", "TestAnOldTrialIsNotBelieved", []edit{
		{"agent/lifecycle/enrol/drive.go", `if !s.tried { // it was`, `if false { // it was`},
	}},
	{"a late fingerprint is not compared", "agent/lifecycle/enrol", "TestALateFingerprintIsCompared", []edit{
		{"agent/lifecycle/enrol/box.go", `fingerprint == "" || e.Authority == ""`, `true`},
	}},
	{"a configuration that was given up is fetched again", "agent/lifecycle/enrol", "TestAConfigurationThatDoesNotWorkIsGivenUp", []edit{
		{"agent/lifecycle/enrol/drive.go", `case rev.Number <= max(r.Active, r.Refused):`, `case rev.Number <= r.Active:`},
	}},
	{"a configuration that never worked stays", "agent/lifecycle/enrol", "TestAConfigurationThatDoesNotWorkIsGivenUp", []edit{
		{"agent/lifecycle/enrol/revision.go", "		if r.Previous == 0 {\n			return nil\n", "		if r.Starts < 1000 {\n			return nil\n"},
	}},
	{"what an operator sends reads the box's files", "agent/config", "TestWhatWasGivenReadsNoFile", []edit{
		{"agent/config/loader.go", `if l.given {`, `if l.given && false {`},
	}},
	{"a box that was replaced goes on selling", "cmd/posagent", "TestScripts", []edit{
		{"cmd/posagent/run.go", `case active.Revoked != "" && !ends(ctx, c, &cfg):`, `case false:`},
	}},
	{"another shop's enrolment takes the journal over", "cmd/posagent", "TestScripts", []edit{
		{"cmd/posagent/enrolled.go", `if err := fitsJournal(ctx, c, cfg); err != nil {`, `if err := fitsJournal(ctx, c, cfg); err != nil && false {`},
	}},

	// Numbers, amounts, the ledger.
	{"the local port answers to any Host", "agent/port", "TestGuardIsClosedToTheWeb", []edit{
		{"agent/port/guard.go", `if !hosts[strings.ToLower(r.Host)] {`, `if !hosts[strings.ToLower(r.Host)] && false {`},
	}},

	// Writes of local clients.
	{"the command line's socket hears anybody", "agent/control", "TestPeers", []edit{
		{"agent/control/socket.go", `err == nil && (uid == p.own || uid == 0) {`, `err == nil || uid == 0 {`},
	}},
	{"the command line's socket replaces any file", "agent/control", "TestSocketFile", []edit{
		{"agent/control/socket.go", `case info.Mode().Type() != fs.ModeSocket:`, `case info == nil:`},
	}},
	{"a person's no is taken for a yes", "cmd/posagent", "TestScripts", []edit{
		{"cmd/posagent/ops_decide.go", `state, word = outbox.Failed, "resolved as declined"`, `state, word = outbox.Done, "resolved as declined"`},
	}},
	{"resolved by hand without a proof", "agent/control", "TestVerbs", []edit{
		{"agent/control/server.go", `if a.Note == "" || a.State`, `if a.State`},
	}},
	{"a reader of events is not told what it missed", "agent/records/events", "TestBoundedAndHonestAboutIt", []edit{
		{"agent/records/events/shares.go", `last > 0 && r.started {`, `false {`},
	}},
	{"two clients share one name", "agent/port", "TestClients", []edit{
		{"agent/port/clients.go", `wire.WithCaller(r.Context(), c.caller)`, `wire.WithCaller(r.Context(), wire.Caller{})`},
	}},

	// Hosted build: who tells, who hears, and how often an order is paid.
	{"a backend with a short RSA key is trusted", "agent/upstream", "TestField_P12ShortRSAKeysAreRefused", []edit{
		{"agent/upstream/transport.go", `key.N.BitLen() < minRSA`, `key.N.BitLen() < 1024`},
	}},

	// Disputes.
	{"the port takes any number of documents at once", "agent/port", "TestDocumentsPassInPieces", []edit{
		{"agent/port/services.go", `maxLarge    = 2 `, `maxLarge    = 200 `},
	}},
	{"strangers' slow bodies make a client's go", "agent/port", "TestField2_A9_SlowBodiesTakeNoPlaces", []edit{
		{"agent/port/large.go", `one.lately(now) < slowest.lately(now)`, `one.lately(now) > slowest.lately(now)`},
	}},
	{"strangers' slow bodies have the places of clients", "agent/port", "TestField2_A9_SlowBodiesTakeNoPlaces", []edit{
		{"agent/port/large.go", `if !isLarge(r) || proven(r) {`, `if !isLarge(r) || proven(r) || l != nil {`},
	}},
	{"a document stands in the port's memory", "agent/port", "TestDocumentsPassInPieces", []edit{
		{"schemes/wire/spool/spool.go", `n, err := io.Copy(io.MultiWriter(to, sum), content)`, "held, err := io.ReadAll(content)\n\tif err == nil {\n\t\t_, err = io.MultiWriter(to, sum).Write(held)\n\t}\n\tn := int64(len(held))"},
	}},

	// An accepted or restored journal says no final no.
	{"a journal that replaced another says not found for good", "cmd/posagent", "TestField_C8ALostJournalIsNoFinalNo", []edit{
		{"agent/records/replacedjournal/lost.go", `if err != nil || !ok {`, `if err != nil || !ok || l.Generation > 0 {`},
	}},
	{"that a journal replaced another is not kept", "cmd/posagent", "TestField_C8ALostJournalIsNoFinalNo", []edit{
		{"agent/recover.go", `return store.KeepLost(tx, store.Lost{`, `return func(store.Tx, store.Lost) error { return nil }(tx, store.Lost{`},
	}},
	{"the backend is not asked for a sale of a lost journal", "cmd/posagent", "TestField_C8ALostJournalIsNoFinalNo", []edit{
		{"agent/view/daemon.go", `|| h.Asked == nil ||`, `|| h.Asked != nil ||`},
	}},
	{"06 20 tells the sale before the lost one", "cmd/posagent", "TestField_C8ALostJournalIsNoFinalNo", []edit{
		{"agent/checkout/drive/journal/numbers.go", `(row == nil || row.ID <= last)`, `(row == nil || row.ID < min(0, last))`},
	}},
	{"a reversal of a lost receipt is refused as unknown", "cmd/posagent", "TestField_C8ALostJournalIsNoFinalNo", []edit{
		{"agent/checkout/drive/forward.go", `if err := unsaid(tx); err != nil {`, `if err := error(nil); err != nil {`},
	}},
	{"the backend's not found is believed of a lost local id", "cmd/posagent", "TestField_C8ALostJournalIsNoFinalNo", []edit{
		{"agent/gateway/owner.go", `if known || wire.CodeOf(err) != wire.NotFound ||`, `if true ||`},
	}},
	{"a client hears a final no of what only a lost journal knew to be its own", "agent/ownership", "TestField_C8NoFinalNoOfWhatALostJournalKnew", []edit{
		{"agent/ownership/claims.go", "\t\treturn c.none(ctx, about)\n\t}\n\treturn nil\n}\n\n// allow", "\t\treturn none(about)\n\t}\n\treturn nil\n}\n\n// allow"},
	}},
	{"a link of a lost journal shares its number with a new one", "cmd/posagent", "TestField_C8ALostJournalIsNoFinalNo", []edit{
		{"agent/recover.go", `, gateway.SkipNumbers(tx, n.Operations.Highest))`, `)`},
		{"agent/recover.go", `	"posagent/agent/gateway"
`, ``},
	}},
	{"the watchdog is fed without progress", "cmd/posagent", "TestNoSignOfLifeWithoutProgress", []edit{
		{"cmd/posagent/notify.go", `if progress(ctx) == nil {`, `if progress(ctx); true {`},
	}},
	{"a journal's writer that stands still is progress", "agent", "TestProgressIsThatOfEachLoop", []edit{
		{"agent/progress.go", `	a.asWriter(func() {})
	a.Judge(ctx)
`, ``},
	}},
	{"the watchdog's question is committed", "agent", "TestProgressIsThatOfEachLoop", []edit{
		{"agent/agent.go", `		fn()
		return errNothing
`, `		fn()
		return nil
`},
	}},
	{"money that is pending does not keep a package", "cmd/posagent", "TestPendingMoneyIsRefused", []edit{
		{"cmd/posagent/pending.go", `	if sales+ops > 0 {
		return pendingError(`, `	if sales > 0 {
		return pendingError(`},
	}},
	{"a box that is not configured sells as a sandbox", "cmd/posagent", "TestNoSandboxWhereNoneIsWanted", []edit{
		{"cmd/posagent/run.go", `case cfg.Sandbox() && c.opts.(*runOptions).noSandbox:`, `case cfg.Sandbox() && c.opts.(*runOptions).noSandbox && false:`},
	}},

	// What a help desk gets, and a terminal that is asked by others.
	{"a register's message is recorded with its values", "ecr/zvt", "TestOutlineTellsNoValue", []edit{
		{"ecr/zvt/outline.go", `text += fmt.Sprintf(" %02X", f.BMP)`, `text += fmt.Sprintf(" %02X %X", f.BMP, f.Value)`},
	}},
	{"a request is recorded with what it is about", "cmd/posagent", "TestARouteTellsNothingOfWhatItIsAbout", []edit{
		{"cmd/posagent/routes.go", `if s != "" && !words()[strings.ToLower(s)] {`, `if s != "" && !words()[strings.ToLower(s)] && false {`},
	}},
	{"a request is recorded with its address", "agent/upstream", "TestTheLogTellsNothingOfARequestButItsRoute", []edit{
		{"agent/upstream/told.go", `"route", t.route(req.URL.Path), "ms"`, `"route", t.route(req.URL.Path)+req.URL.RawQuery, "ms"`},
	}},
	{"an event is recorded with what arrived", "cmd/posagent", "TestAnEventTellsNothingOfItsBody", []edit{
		{"cmd/posagent/record_tape.go", `if e.Source == view.OfOperation || e.Source == view.OfSale {`, `if e.Source != "" {`},
	}},
	{"a long output keeps half a line, and so half a secret", "cmd/posagent", "TestAClippedOutputHasWholeLines", []edit{
		{"cmd/posagent/record_run.go", `c.head[:bytes.LastIndexByte(c.head, '\n')+1], []byte(nil)`, `c.head, []byte(nil)`},
	}},
	{"a part of an archive keeps its secrets", "agent/support/bundle", "TestSecretsAndCardNumbersGo", []edit{
		{"agent/support/bundle/support.go", `clean[i] = c.Data(p.Data)`, `clean[i] = p.Data`},
	}},
	{"a number with a secret in it makes a part that is no JSON", "agent/support/bundle", "TestJSONStaysJSON", []edit{
		{"agent/support/bundle/clean.go", `	w.quote(clean)
`, `	w.out.WriteString(clean)
`},
	}},
	{"what stands behind a name of a secret stays in a text", "agent/support/bundle", "TestWhatANameHidesGoes", []edit{
		{"agent/support/bundle/clean.go", `	s = c.named.ReplaceAllString(s, "${1}"+masked)
`, ``},
	}},
	{"what stands behind a name of a secret stays in JSON", "agent/support/bundle", "TestJSONStaysJSON", []edit{
		{"agent/support/bundle/clean.go", `if w.c.Hides(name) {`, `if w.c.Hides(name) && false {`},
	}},
	{"a recorded line leaves the terminal with its secrets", "agent/control", "TestARecordingFollowsTheLog", []edit{
		{"agent/control/record.go", `string(o.Clean(data))`, `string(data)`},
	}},
	{"a reader of the log that is slow takes all memory", "agent/support/record", "TestASlowReaderLosesLinesAndIsTold", []edit{
		{"agent/support/record/record.go", ` || r.bytes+len(line) > mostBytes {`, ` {`},
	}},
	{"a recording that ended leaves the log loud", "agent/support/record", "TestAReaderSeesWhatTheLogDoesNot", []edit{
		{"agent/support/record/record.go", `	delete(r.of.readers, r)
`, ``},
	}},
	{"a recording without the terminal does not say so", "cmd/posagent", "TestARecordingWithoutATerminal", []edit{
		{"cmd/posagent/record_tape.go", `			t.miss(why)
		}
		once()
`, `		}
		once()
`},
	}},
	{"Ctrl-C ends a recording without its doctor", "cmd/posagent", "TestAnInterruptedRecordingIsKept", []edit{
		{"cmd/posagent/record.go", `whole := context.WithoutCancel(ctx)`, `whole := ctx`},
	}},
	{"a package's removal does not look at the mark on another medium", "cmd/posagent", "TestPendingIsNotMisled", []edit{
		{"cmd/posagent/engine.go", `IgnoreMark: cut, Marks: marks, Outlived: f.outlived(), Box: thisBox()}))`, `IgnoreMark: cut, Outlived: f.outlived(), Box: thisBox()}))`},
	}},
	{"a link to a medium that is away is a box without money", "cmd/posagent", "TestPendingIsNotMisled", []edit{
		{"cmd/posagent/pending.go", `linked == nil && err != nil {`, `linked != nil && err == nil {`},
	}},
	{"a unit that starts a script is taken for one on the usual directory", "cmd/posagent", "TestWhatAUnitIsStartedWith", []edit{
		{"cmd/posagent/pending_unit.go", `if len(argv) < 2 || filepath.Base(argv[0]) != "posagent" || !slices.Contains(argv, "run") {`, `if len(argv) < 1 {`},
	}},
	{"a training terminal outlives a self test that is killed", "cmd/posagent", "TestATrainingTerminalDoesNotOutliveTheSelfTest", []edit{
		{"cmd/posagent/selftest.go", `Pdeathsig: syscall.SIGKILL`, ``},
	}},
	{"a remedy names the box's file for what the operator has set", "agent/ready", "TestARemedyNamesWhoSetTheValue", []edit{
		{"agent/ready/table.go", `at.setIn(settings(t))`, `at.setIn(nil)`},
	}},
	{"a box that waits for its enrolment is called a sandbox", "cmd/posagent", "TestAStoppedBoxIsNotCalledASandbox", []edit{
		{"cmd/posagent/enrolled.go", `	if !cfg.Sandbox() {
		return false
	}
	if _, err`, `	if cfg.Sandbox() {
		return false
	}
	if _, err`},
	}},
}
