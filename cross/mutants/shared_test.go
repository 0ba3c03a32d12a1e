package mutants

// ofShared are the rules of books that several processes work on, and of their way from one engine to another.
var ofShared = []mutant{
	{"PostgreSQL: a primary that was given up is taken", "store/postgres", "TestAPrimaryThatWasGivenUp", []edit{
		{"store/postgres/primary.go", `	case now.Timeline < last.Timeline:`, `	case now.Timeline < 0*last.Timeline:`},
	}},
	{"PostgreSQL: a copy that was put back is taken", "store/postgres", "TestACopyPutBack", []edit{
		{"store/postgres/primary.go", `	case position(now.Position) < position(last.Position):`, `	case position(now.Position) < 0:`},
	}},
	{"PostgreSQL: a primary that was given up is taken where nothing is remembered", "store/postgres", "TestPick", []edit{
		{"store/postgres/servers.go", `			case s.at.Timeline < best.at.Timeline:`, `			case false:`},
	}},
	{"PostgreSQL: of two primaries on one timeline the first is taken", "store/postgres", "TestPick", []edit{
		{"store/postgres/servers.go", `			case s.at.started != best.at.started:`, `			case false:`},
	}},
	{"PostgreSQL: sessions of a server that was made unsafe go on", "store/postgres", "TestAServerThatIsMadeUnsafe", []edit{
		{"store/postgres/write.go", `	if why := s.barred.Load(); why != nil {`, `	if why := s.barred.Load(); why != nil && false {`},
	}},
	{"PostgreSQL: a commit that changed nothing makes a process ready", "store/postgres", "TestReadyOnceConfirmed", []edit{
		{"store/postgres/health.go", `	if changed && !s.closed {`, `	if !s.closed {`},
	}},
	{"PostgreSQL: an id with a NUL is an error of the server", "cmd/posagent-backend", "TestNotReadyWhileCommitsHang", []edit{
		{"store/postgres/dialect.go", `strings.Contains(s, "\x00")`, `strings.Contains(s, "\x01")`},
	}},
	{"PostgreSQL: links are swept by what an older server refuses", "cmd/posagent-backend", "TestNotReadyWhileCommitsHang", []edit{
		{"schemes/backend/paylinks/new.go", `) AS due`, `)`},
	}},
	{"a key is left behind by books that have another one", "cmd/posagent-backend", "TestRefusals", []edit{
		{"schemes/backend/keyfile.go", `	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}`, `	if errors.Is(err, fs.ErrNotExist) {
		key, err = makeKey(path)
	}`},
	}},
	{"PostgreSQL: another server is taken", "store/postgres", "TestACopyPutBack", []edit{
		{"store/postgres/primary.go", `	case now.System != last.System:`, `	case false:`},
	}},
	{"PostgreSQL: standbys that no commit waits for are taken", "store/postgres", "TestUnsafeServers", []edit{
		{"store/postgres/primary.go", `	case s.standbys > 0 && s.names == "" && !t.Async:`, `	case s.standbys > 99 && s.names == "" && !t.Async:`},
	}},
	{"PostgreSQL: commits do not wait where the account is set so", "store/postgres", "TestUnsafeServers", []edit{
		{"store/postgres/primary.go", `	if t.Async {`, `	if !t.Async {`},
	}},
	{"PostgreSQL: a password goes over the network in clear", "store/postgres", "TestUnsafeServers", []edit{
		{"store/postgres/primary.go", `	if bad && !t.Plain {`, `	if false {`},
	}},
	{"PostgreSQL: who copies books does not keep others out", "store/postgres", "TestAlone", []edit{
		{"store/postgres/presence.go", "\tif s.opt.Alone {\n\t\tlock, why", "\tif false {\n\t\tlock, why"},
	}},
	{"a process goes on with its task when its lease may be another's", "schemes/backend/lease", "TestAHolderThatLosesTheDatabase", []edit{
		{"schemes/backend/lease/lease.go", `			if len(h.at) > 0 {
				h.log.Warn("the leases could not be kept: others may take them")
			}
			h.stop()`, `			if len(h.at) > 0 {
				h.log.Warn("the leases could not be kept: others may take them")
			}`},
	}},
	{"a lease is taken though its holder counts", "schemes/backend/lease", "TestOneAtATime", []edit{
		{"schemes/backend/lease/lease.go", `			left := there && at == last.row && now.Sub(last.since) >= h.opt.After`, `			left := there && (at == last.row || !last.since.IsZero())`},
	}},
	{"an attempt that two processes made is recorded twice", "schemes/backend/webhooks", "TestTwoProcessesMakeOneAttempt", []edit{
		{"schemes/backend/webhooks/run.go", `	case errors.Is(err, sql.ErrNoRows), err == nil && tries != p.tries:`, `	case errors.Is(err, sql.ErrNoRows):`},
	}},
	{"books that were moved take work", "store/move", "TestStoppedAndBegunAgain", []edit{
		{"store/move/move.go", `		if to != nil {`, `		if to != nil && to.ID == "" {`},
	}},
	{"a copy takes work before it was compared", "store/move", "TestRefused", []edit{
		{"store/move/move.go", `		if err == nil && from != nil {`, `		if err == nil && from != nil && from.ID == "" {`},
	}},
	{"a copy that differs is taken", "store/move", "TestRefused", []edit{
		{"store/move/move.go", `		if was != is {`, `		if was.Rows != is.Rows {`},
	}},
	{"a table is left out of the digests", "store/move", "TestRefused", []edit{
		{"store/move/move.go", `	for _, t := range tables {
		was, is, err`, `	for _, t := range tables[1:] {
		was, is, err`},
	}},
	{"a copy that goes on takes a page again", "store/move", "TestStoppedAndBegunAgain", []edit{
		{"store/move/rows.go", `	if at.Done > 0 {
`, `	if at.Done > 2*int64(opt.Batch) {
`},
	}},
	{"tables are copied by name, not behind those that they refer to", "store/move", "TestThereAndBack", []edit{
		{"store/move/tables.go", `			return !slices.ContainsFunc(`, `			return true || !slices.ContainsFunc(`},
	}},
	{"all wide rows of a page are in memory at once", "store/move", "TestPagesAreBounded", []edit{
		{"store/move/rows.go", `	if p.widest*int64(most) > pageBytes {`, `	if p.widest < 0 {`},
	}},
	{"PostgreSQL: numbers of a copy begin again", "store/move", "TestThereAndBack", []edit{
		{"store/move/rows.go", `		if to.Copied != nil {`, `		if to.Copied != nil && t.Table == "" {`},
	}},
	{"PostgreSQL: a count that was copied begins again", "store/move", "TestThereAndBack", []edit{
		{"store/postgres/numbers.go", `		next := NEW.last + 1;`, `		next := 1;`},
	}},
	{"PostgreSQL: books that are copied tell old numbers", "cmd/posagent-backend", "TestUpgradeAndMigrationKeepNumbers", []edit{
		{"store/postgres/numbers.go", `coalesce(pg_sequence_last_value(c.oid), s.seqstart - 1) AS last`, `s.seqstart - 1 AS last`},
	}},
	{"PostgreSQL: a server that was restored gives lost numbers again", "store/postgres", "TestNumbersAfterARestore", []edit{
		{"store/postgres/onward.go", `	UPDATE store_server SET name = met;`, `	UPDATE store_server SET name = met;
	RETURN false;`},
	}},
	{"PostgreSQL: a copy that was put back and taken gives lost numbers again", "store/postgres", "TestNumbersAfterARestore", []edit{
		{"store/postgres/onward.go", `one.at, s.memory.forgot)`, `one.at, false)`},
	}},
	{"PostgreSQL: a copy that was put back is taken once its log has grown", "store/postgres", "TestACopyPutBack", []edit{
		{"store/postgres/primary.go", `case now.beats < last.Beats[now.place]:`, `case false:`},
	}},
	{"PostgreSQL: a copy from before there were beats is taken", "store/postgres", "TestACopyPutBack", []edit{
		{"store/postgres/beats.go", `		return 0, nil
	}
	return n, classify(err)`, `		return 1 << 62, nil
	}
	return n, classify(err)`},
	}},
	{"PostgreSQL: a process goes on without a right", "cmd/posagent-backend", "TestLeastRights", []edit{
		{"store/postgres/watch.go", `err = s.rights(ctx, one.pg)`, `err = nil`},
	}},
	{"PostgreSQL: tables that an upgrade makes end a running process", "cmd/posagent-backend", "TestLeastRights", []edit{
		{"store/postgres/rights.go", `lacks(ctx, conn, s.needs)`, `lacks(ctx, conn, append(s.needs, "store_number_newer"))`},
	}},
	{"PostgreSQL: a standby that has taken over gives the numbers of a running store", "store/postgres", "TestNumbersAfterATakeOver", []edit{
		{"store/postgres/onward.go", `was.Timeline == at.Timeline`, `was.Timeline <= at.Timeline`},
	}},
	{"PostgreSQL: a function of the owner's takes an account's temporary table for the schema's", "cmd/posagent-backend", "TestLeastRights", []edit{
		{"store/postgres/onward.go", `SET search_path = %I, pg_temp'`, `SET search_path = pg_temp, %I'`},
	}},
	{"a tenant of a database reads another one's rows", "cmd/posagent-backend", "TestTenants", []edit{
		{"cmd/posagent-backend/database.go", "`GRANT USAGE ON SCHEMA SCHEMA TO SERVES;", "`GRANT USAGE ON SCHEMA SCHEMA TO PUBLIC;"},
		{"cmd/posagent-backend/database.go", "ON ALL TABLES IN SCHEMA SCHEMA TO SERVES;", "ON ALL TABLES IN SCHEMA SCHEMA TO PUBLIC;"},
	}},
	{"a stage that cannot end is waited for", "schemes/backend/fleet", "TestAStageThatCannotEnd", []edit{
		{"schemes/backend/fleet/stage.go", `	case r.hopeless():`, `	case false && r.hopeless():`},
	}},
	{"a refund of a sale that a restore has lost takes another customer's money", "cmd/posagent-backend", "TestATerminalNamesWhatARestoreLost", []edit{
		{"store/postgres/onward.go", `n.last + 1000000)`, `n.last)`},
	}},
	{"PostgreSQL: counts are rows that closures wait for", "store/postgres", "TestNumbersDoNotMeet", []edit{
		{"store/postgres/numbers.go", `	err = t.QueryRow("SELECT nextval(?::text::regclass)", `, `	_, _ = t.Exec("INSERT INTO store_meta (name, value) VALUES ('number', '') ON CONFLICT (name) DO UPDATE SET value = ''")
	err = t.QueryRow("SELECT nextval(?::text::regclass)", `},
	}},
	{"SQLite: a number is given again", "store/sqlite", "TestConformance", []edit{
		{"store/sqlite/tx.go", `"UPDATE store_number SET last = last + 1 WHERE name = ? RETURNING last"`, `"SELECT last + 1 FROM store_number WHERE name = ?"`},
	}},
	{"cases of older books are numbered from the beginning", "cmd/posagent-backend", "TestUpgradeAndMigrationKeepNumbers", []edit{
		{"schemes/backend/disputes/schema.go", `coalesce(max(number), 500000)`, `coalesce(min(0), 500000)`},
	}},
	{"links of older books are numbered from the beginning", "cmd/posagent-backend", "TestUpgradeAndMigrationKeepNumbers", []edit{
		{"schemes/backend/paylinks/schema.go", `SELECT 'links_' || name, last FROM links_seq`, `SELECT 'links_' || name, CASE name WHEN 'txn' THEN 500000 ELSE 100000 END FROM links_seq`},
	}},
	{"a copy is given up that has taken work", "store/move", "TestThereAndBack", []edit{
		{"store/move/move.go", `	case to.Done:`, `	case to.Done && false:`},
	}},
	{"a process that ends does not tell the balancer", "cmd/posagent-backend", "TestLeavesTheBalancer", []edit{
		{"cmd/backend/serve.go", `		b.Leave()
`, ``},
	}},
	{"PostgreSQL: a connection that lay idle is taken as it is", "store/postgres", "TestIdleConnections", []edit{
		{"store/postgres/driver.go", `if err := c.pg.Ping(ctx); err != nil {`, `if err := error(nil); err != nil {`},
	}},
	{"PostgreSQL: a server that does not work is looked at as rarely", "store/postgres", "TestIdleConnections", []edit{
		{"store/postgres/watch.go", `		if s.works() && time.Since(last) < s.opt.Beat {`, `		if time.Since(last) < s.opt.Beat {`},
	}},
	{"a backend forgets the Keys that it has answered", "cross/campaign/fleet", "TestFleet", []edit{
		{"schemes/backend/room/once.go", `	var refusal *wire.Error
	var do scenario.Do
	write := r.DB.Write`, `	k.Key = ""
	var refusal *wire.Error
	var do scenario.Do
	write := r.DB.Write`},
	}},
	{"a fleet's terminals forget what they owe", "cross/campaign/sim", "TestDays", []edit{
		{"agent/checkout/undo.go", `	s.Phase, s.LastRead, s.Unheard, s.Settling = Reversing, false, false, false`, `	s.Phase, s.LastRead, s.Unheard, s.Settling = Done, false, false, false`},
		{"agent/checkout/undo.go", `	s, next := attempt(s, e)
	return s, append(append(out, next...), Effect{Do: Tell})`, `	return s, append(out, Effect{Do: Tell})`},
	}},
}
