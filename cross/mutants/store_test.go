package mutants

// ofStore is every broken rule that a test of the store notices.
var ofStore = []mutant{
	// What is acknowledged is durable.
	{"synchronous=NORMAL, believed by the read-back too", crashfs, "TestPowerCutLosesNothing", []edit{
		{"store/sqlite/conn.go", `b.WriteString("&_synchronous=" + s.synchronous + "&_busy_timeout=5000")`, `b.WriteString("&_synchronous=NORMAL&_busy_timeout=5000")`},
		{"store/sqlite/conn.go", `"FULL": "2"`, `"FULL": "1"`},
	}},
	{"synchronous=NORMAL by default", "store/sqlite", "TestPragmasOnEveryConnection", []edit{
		{"store/sqlite/open.go", `opt.Synchronous = "FULL"`, `opt.Synchronous = "NORMAL"`},
	}},
	{"an update of a mapped row hits the others", "store", "TestTableUpdatesWhatIsNamed", []edit{
		{"store/table.go", `strings.Join(t.names[:t.keys], " = ? AND ") + " = ?"`, `strings.Join(t.names[:t.keys], " = ? AND ") + " <> ?"`},
	}},
	{"an update of a row of two keys hits the rows of either", "store", "TestTableOfTwoKeys", []edit{
		{"store/table.go", `strings.Join(t.names[:t.keys], " = ? AND ") + " = ?"`, `strings.Join(t.names[:t.keys], " = ? OR ") + " = ?"`},
	}},
	{"PostgreSQL: a commit without an answer is refused", "store/postgres", "TestConformance", []edit{
		{"store/postgres/write.go", `		err = fmt.Errorf("%w: %w", store.ErrCommitUnknown, err)`, `		err = fmt.Errorf("%w: %w", store.ErrIO, err)`},
	}},
	{"PostgreSQL: a commit on one machine alone is told as done", "store/postgres", "TestAStandbyThatDoesNotAnswer", []edit{
		{"store/postgres/write.go", `	case err == nil && s.unconfirmed(conn):`, `	case err == nil && s.unconfirmed(conn) && false:`},
	}},
	{"PostgreSQL: closures see what others have not committed by then", "store/postgres", "TestSeveralProcesses", []edit{
		{"store/postgres/write.go", `"BEGIN ISOLATION LEVEL SERIALIZABLE"`, `"BEGIN ISOLATION LEVEL REPEATABLE READ"`},
	}},
	{"PostgreSQL: of two own writes of one row one is lost", "store/postgres", "TestAConflictOfAStatementThatWaits", []edit{
		{"store/postgres/write.go", `"BEGIN ISOLATION LEVEL REPEATABLE READ", alone`, `"BEGIN ISOLATION LEVEL READ COMMITTED", alone`},
	}},
	{"PostgreSQL: a payment is captured and cancelled, as rows are not compared", "cross/campaign/books", "TestBooksOfTwoBackends", []edit{
		{"store/postgres/write.go", `"BEGIN ISOLATION LEVEL REPEATABLE READ", alone`, `"BEGIN ISOLATION LEVEL READ COMMITTED", alone`},
	}},
	{"the writer never starts a long log anew", "store/sqlite", "TestALongLogIsFoldedByTheWriter", []edit{
		{"store/sqlite/checkpoint.go", `if frames > walFrames {`, `if frames > 1<<40 {`},
	}},
	{"PostgreSQL: a key that was taken meanwhile is the caller's error", "cross/campaign/books", "TestBooksOfTwoBackends", []edit{
		{"store/postgres/write.go", `at.keyRuns > 0 && codeOf(broken) == uniqueViolation`, `at.keyRuns > 100 && codeOf(broken) == uniqueViolation`},
	}},
	{"PostgreSQL: runs that met another conflict use a taken key up", "store/postgres", "TestAKeyTakenAfterConflicts", []edit{
		{"store/postgres/write.go", `		if codeOf(err) == uniqueViolation {
			at.keyRuns--
		}`, `		at.keyRuns--`},
	}},
	{"PostgreSQL: what waited is not sent before COMMIT", "store/postgres", "TestAStatementThatWaitedFails", []edit{
		{"store/postgres/write.go", `broken := t.end(own == nil)`, `broken := t.end(false)`},
	}},
	{"PostgreSQL: an error of a statement that waited is forgotten", "store/postgres", "TestAStatementThatWaitedFails", []edit{
		{"store/postgres/wait.go", `	if c.within && c.broke == nil {`, `	if !c.within && c.broke == nil {`},
		{"store/postgres/scope.go", `	if err = classify(err); err != nil && t.failed == nil {`, `	if err = classify(err); err != nil && t.failed == nil && false {`},
		{"store/postgres/driver.go", `	if err == nil && text == "COMMIT" && tag.String() != text {`, `	if err == nil && text == "COMMIT" && tag.String() != text && false {`},
	}},
	{"PostgreSQL: what a closure changes after it wrote it is stored", "store/postgres", "TestStatementsTravelTogether", []edit{
		{"store/postgres/wait.go", `			args[i] = bytes.Clone(b)`, `			args[i] = b[:len(b):len(b)]`},
		{"store/postgres/wait.go", `	"bytes"
`, ``},
	}},
	{"PostgreSQL: a statement costs a turn of its own", "store/postgres", "TestStatementsTravelTogether", []edit{
		{"store/postgres/scope.go", `t.conn.ExecContext(waits(t.Context())`, `t.conn.ExecContext((t.Context())`},
		{"store/postgres/driver.go", `	case len(c.waiting) > 0:
		return nil, errUnsent`, `	case c.send(ctx) != nil:
		return nil, c.broke`},
	}},
	{"PostgreSQL: a conflict is the caller's", "store/postgres", "TestSeveralProcesses", []edit{
		{"store/postgres/write.go", `	case conflicts(err):
		return true, err`, `	case conflicts(err):
		return false, err`},
	}},
	{"a read is no snapshot", "store/sqlite", "TestConformance", []edit{
		{"store/sqlite/read.go", `if err := l.begin("BEGIN"); err != nil {`, `if err := l.begin("SELECT 1"); err != nil {`},
	}},
	{"a step that failed stays", "store/sqlite", "TestConformance", []edit{
		{"store/sqlite/migrate.go", `return errors.Join(err, tx.Rollback())`, `return errors.Join(err, tx.Commit())`},
	}},
	{"a commit whose answer was lost is answered as a fault", "schemes/backend/onboarding", "TestACommitThatIsNotKnownIsUnknown", []edit{
		{"store/errors.go", `func (commitUnknown) UnknownOutcome() bool { return true }`, `func (commitUnknown) UnknownOutcome() bool { return false }`},
	}},
	{"pragmas not read back", "store/sqlite", "TestConnectionWithOtherPragmasIsRefused", []edit{
		{"store/sqlite/conn.go", `if err == nil && got != p.want {`, `if false {`},
	}},
	{"acknowledged before the commit", crashfs, "TestPowerCutLosesNothing|TestFaultAtEveryWriteAndSync", []edit{
		{"store/sqlite/writer.go", "\tstart := time.Now()\n\tif err := s.w.exec(\"COMMIT\"); err != nil {",
			"\tfor i, r := range live {\n\t\tr.done <- results[i]\n\t}\n\tstart := time.Now()\n\tif err := s.w.exec(\"COMMIT\"); err != nil {"},
	}},
	{"a failed commit is answered as done", crashfs, "TestFaultAtEveryWriteAndSync", []edit{
		{"store/sqlite/writer.go", `return s.failed("commit", errors.Join(err, s.undo()))`, `_ = s.failed("commit", errors.Join(err, s.undo()))`},
	}},
	{"a caller that fails keeps its rows in a batch", "store/sqlite", "TestConformance", []edit{
		{"store/sqlite/writer.go", `if err := s.w.exec("ROLLBACK TO caller"); err != nil {`, `if err := error(nil); err != nil {`},
	}},
	{"a broken connection is used again after an I/O error", crashfs, "TestUnacknowledgedNeverTurnsUp|TestFaultAtEveryWriteAndSync", []edit{
		{"store/sqlite/recover.go", `case breaks(err) || errors.Is(err, errRolledBack):`, `case false:`},
	}},

	// Sealed, and verified.
	{"sealed values are stored as they are", "store/sqlite", "TestSealedValues", []edit{
		{"store/seal.go", `return aead.Seal(out, out[1:], plain, at.aad()), nil`, `return append(out, plain...), nil`},
		{"store/seal.go", `plain, err := aead.Open([]byte{}, sealed[1:1+n], sealed[1+n:], at.aad())`, `plain, err := sealed[1+n:], error(nil)`},
	}},

	// At most one effect at the backend.
	{"a change of the device key leaves out the rows' own keys", "store/sqlite", "TestRewrapGoesOnWhereItBrokeOff", []edit{
		{"store/rewrap.go", `w.own, w.of = append(w.own, table), w.of+n`, `w.of += n`},
	}},
	{"new work is taken while the reserve is gone", "store/sqlite", "TestReservedRefusesWithoutBallast", []edit{
		{"store/sqlite/health.go", `return s.reserve.ensure()`, `return nil`},
	}},
	{"the reserve uses up what was freed for open work", "store/sqlite", "TestBallast", []edit{
		{"store/sqlite/reserve.go", `if free < 2*b.size+lowWater {`, `if free < b.size+lowWater {`},
	}},
	{"the reserve is kept when a write is about to fail for it", "store/sqlite", "TestReservedRefusesWithoutBallast", []edit{
		{"store/sqlite/reserve.go", `const lowWater = 128 << 10`, `const lowWater = 0`},
	}},
	{"a start on a full disk has no room for what is owed", "store/sqlite", "TestField2_D13AStartHasAReserveOfItsOwn", []edit{
		{"store/sqlite/reserve.go", `case b.next && os.Remove(b.forStart()) == nil:`, `case false:`},
	}},

	// Told, and undone.
	{"a journal from before the mark that was put back is taken for the present one", "store/marks", "TestJudge", []edit{
		{"store/marks/judge.go", `case e.Old < e.Beside:`, `case false:`},
	}},
	{"a journal behind its mark is taken for whole", "store/sqlite", "TestField_J1ADamagedLogIsNoticed|TestField_J2ACopyPutBackIsNoticed", []edit{
		{"store/marks/judge.go", `case row.End.Sequence < m.End.Sequence:`, `case false:`},
	}},
	{"a missing journal is made anew beside its mark", "store/sqlite", "TestField_J3AMissingJournalIsNotANewOne", []edit{
		{"store/sqlite/settle.go", "\tif err == nil {\n\t\terr = v.Err(s.opt.Path, seen.mark)\n\t}\n\tseen.verdict = v", "\tv.Afresh = v.Missing\n\tseen.verdict = v"},
		{"store/sqlite/settle.go", `seen.Evidence, seen.verdict = e, marks.Judge(e)`, `seen.Evidence = e`},
	}},
	{"the mark is written before COMMIT", crashfs, "TestPowerCutLosesNothing", []edit{
		{"store/sqlite/writer.go", "\tstart := time.Now()\n\tif err := s.w.exec(\"COMMIT\"); err != nil {",
			"\tif changed {\n\t\ts.counted(next)\n\t}\n\tstart := time.Now()\n\tif err := s.w.exec(\"COMMIT\"); err != nil {"},
	}},
	{"a start that fails folds the log beside a mark that asks for it", "store/sqlite", "TestField_J1AFailedStartKeepsTheLog", []edit{
		{"store/sqlite/open.go", `if s.marks != nil { // they may still say that the log is being folded`, `if false {`},
	}},
	{"the mark does not say that the log is being folded", crashfs, "TestField_J1AFoldingThatLostItsLogIsNoticed", []edit{
		{"store/sqlite/checkpoint.go", `s.marks.Durably(func(c *marks.Slot) { c.Fold = f.log })`, `s.marks.Durably(func(c *marks.Slot) { c.Fold = marks.Folding{} })`},
	}},
	{"the log may be started anew while it is being folded", "store/sqlite", "TestTheLogStaysWhileTheMarkNamesIt", []edit{
		{"store/sqlite/checkpoint.go", `if err = pin.begin("BEGIN"); err == nil {`, `if err = pin.begin("SELECT 1"); err == nil {`},
	}},
	{"the log is let go of while the mark may still name it", "store/sqlite", "TestField_J1TheLogStaysUntilTheMarkLetsGo", []edit{
		{"store/sqlite/checkpoint.go", "\t\ts.kept = f.pin\n", "\t\t_ = s.unpin(f.pin)\n"},
	}},
	{"a mark that cannot be written lets the log grow", "store/sqlite", "TestADeadMarkLetsNoLogGrow", []edit{
		{"store/sqlite/checkpoint.go", `e != nil && frames <= walFrames {`, `e != nil {`},
	}},
	{"a store on a broken medium folds its log as it closes", "store/sqlite", "TestField_J1ABrokenStoreLeavesTheLog", []edit{
		{"store/sqlite/close.go", "\tif err := s.broken(); err != nil {\n\t\treturn err\n\t}\n", "\tif s.broken() != nil {\n\t\treturn nil\n\t}\n"},
	}},
	{"a log cut back to the journal's beginning is taken for one in the making", "store/marks", "TestJudge", []edit{
		{"store/marks/judge.go", "\t\tcase row.End.Generation != m.End.Generation, row.End.Sequence < m.End.Sequence:", "\t\tcase false:"},
	}},
	{"the journal claims a mark before it is durable", "store/sqlite", "TestAMarkThatCannotBeMadeIsNotClaimed", []edit{
		{"store/sqlite/settle.go", "\t\ts.log.Error(\"the mark cannot be written: a journal that is cut would not be noticed\", \"err\", err)\n\t\treturn nil", "\t\ts.log.Error(\"the mark cannot be written: a journal that is cut would not be noticed\", \"err\", err)"},
	}},
	{"a journal that is gone with its mark was never here", "store/sqlite", "TestField4_V5AJournalThatIsGoneWithItsMarkIsMissing", []edit{
		{"store/marks/judge.go", `case e.Outlived != "":`, `case false:`},
	}},
	{"a mark that a reset has made has seen the last of the journal", "store/sqlite", "TestField4_B10AMarkThatAVerbMadeKnowsNoNumbers", []edit{
		{"store/sqlite/settle.go", `end := seen.mark.Slot.End.Sequence > 0`, `end := seen.mark.Slot.End.Sequence >= 0`},
	}},
	{"two journals of one copy begin in one batch", "agent/checkout/drive/journal", "TestField4_B10OneCopyOnTwoBoxesGivesNoNameTwice", []edit{
		{"agent/checkout/drive/journal/numbers.go", `apart = rand.Int64N(numbersApart)`, `apart = rand.Int64N(1)`},
	}},
	{"two journals of one copy give one link's number twice", "agent/gateway", "TestField4_B10OneCopyTwiceGivesNoLocalNumberTwice", []edit{
		{"agent/gateway/things.go", `skipped+rand.Int64N(apart)`, `skipped+rand.Int64N(1)`},
	}},
	{"what clients' writes read waits on trial, and they fail", "agent/gateway", "TestField4_UpdateAClientsWriteOnTrial", []edit{
		{"agent/gateway/things.go", `Scan(&there); err != nil || !there {`, `Scan(&there); err != nil {`},
	}},
	{"a lost journal has used no key for longer than the backend keeps one", "agent/outbox", "TestField4_C8AWriteIsHeldAfterALoss", []edit{
		{"agent/outbox/restored.go", `case l.Kind == store.WasLost, l.Ageless: // what`, `case l.Ageless: // what`},
	}},
	{"a sale begins on a journal that was taken away", "store/sqlite", "TestField2_L1NothingBeginsOnWhatIsNotTheJournal", []edit{
		{"store/sqlite/health.go", "if err := s.displaced(); err != nil {", "if err := s.displaced(); err != nil && s.opt.ReadOnly {"},
	}},
	{"a wrong clock throws a paper away", "agent/counter/printqueue", "TestField2_L5AWrongClockThrowsNoPaperAway", []edit{
		{"agent/counter/printqueue/waiting.go", "w.age = time.Duration(run-since) * time.Millisecond", "w.age = p.o.Now().Sub(time.UnixMilli(q.oldestMS)) + 0*time.Duration(run-since)"},
	}},
	{"a link ends by the box's own clock", "agent/paylink", "TestField2_L5ALinkEndsByATrueTime", []edit{
		{"agent/paylink/make.go", "if now, ok := s.o.Trusted(); ok {", "if now, ok := s.o.Now(), true; ok {"},
	}},
	{"a mark on a medium that takes no writes is not read", "store/sqlite", "TestField2_L9AMarkThatStandsStill", []edit{
		{"store/marks/files.go", `if i > 0 && errors.Is(err, unix.EROFS) {`, `if false {`},
	}},
}
