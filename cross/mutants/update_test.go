package mutants

// ofUpdates is every broken rule of what replaces the terminal's program.
var ofUpdates = []mutant{
	{"a program on trial shuts the one before out of the journal", "store/sqlite", "TestTrial", []edit{
		{"store/sqlite/migrate.go", `if s.opt.Trial && len(applied) > 0 && !st.Open {`, `if false {`},
	}},
	{"a journal with an open step of a newer program is refused", "store/sqlite", "TestTrial", []edit{
		{"store/steps.go", `!ok && !strings.HasPrefix(record, openStep)`, `!ok && !strings.HasPrefix(record, "none")`},
	}},
	{"a journal with a step that shuts this program out is opened", "store/sqlite", "TestTrial", []edit{
		{"store/steps.go", `!ok && !strings.HasPrefix(record, openStep)`, `!ok && strings.HasPrefix(record+openStep, "none")`},
	}},
	{"a terminal rests while a sale is open", "agent/checkout/drive", "TestRest", []edit{
		{"agent/checkout/drive/rest.go", `err != nil || open > 0`, `err != nil || open > 1<<30`},
	}},
	{"a sale begins in a terminal that rests", "agent/checkout/drive", "TestRest", []edit{
		{"agent/checkout/drive/rest.go", `d.resting = true`, `d.resting = false`},
	}},
	{"a program is put in place that is not the one that was signed", "agent/lifecycle/update", "TestAPlaceIsNeverEmpty", []edit{
		{"agent/lifecycle/update/place.go", `err != nil || got != to.SHA256`, `err != nil || got == ""`},
	}},
	{"another program than the one before is put back", "agent/lifecycle/update", "TestAPlaceIsNeverEmpty", []edit{
		{"agent/lifecycle/update/place.go", `sum(p.previous()); err != nil || got != from.SHA256`, `sum(p.previous()); err != nil || got == ""`},
	}},
	{"a program that runs is written over", "agent/lifecycle/update", "TestAPlaceIsNeverEmpty", []edit{
		{"agent/lifecycle/update/place.go", `	return p.rename(fresh)`, `	data, err := os.ReadFile(fresh)
	if err != nil {
		return err
	}
	return os.WriteFile(p.Program, data, 0o755)`},
	}},
	{"an update is taken back after its trial", "agent/lifecycle/update", "TestNoWayBackAfterTheTrial", []edit{
		{"agent/lifecycle/update/table.go", `Confirming: {kept: Idle,`, `Confirming: {sick: Returning, kept: Idle,`},
	}},
	{"a new trouble is not the new program's", "agent/lifecycle/update", "TestWorse", []edit{
		{"agent/lifecycle/update/terminal.go", `		if !slices.Contains(before.Causes, cause) {
			return "it says`, `		if !slices.Contains(c.Causes, cause) {
			return "it says`},
	}},
	{"a repository is believed by a clock that went back", "cmd/posagent-update", "TestField2_D4TheClockIsJudgedBySignedTimes", []edit{
		{"agent/lifecycle/update/source.go", `if now.Before(is.Signed.Add(-24 * time.Hour)) {`, `if false {`},
	}},
	{"an outage counts against a version", "agent/lifecycle/update", "TestField2_D12AnOutageCountsAgainstNoVersion", []edit{
		{"agent/lifecycle/update/trial.go", `len(r.Away) > 0 && !d.worksAgain`, `false && !d.worksAgain`},
	}},
	{"a start that power ended counts against a configuration", "agent/lifecycle/enrol", "TestField2_D5APowerCutSaysNothingOfAConfiguration", []edit{
		{"agent/lifecycle/enrol/revision.go", `if r.Begun == boot {`, `if r.Begun != "" {`},
	}},
	{"a look remembers what it saw", "cmd/posagent-update", "TestField2_D4TheClockIsJudgedBySignedTimes", []edit{
		{"agent/lifecycle/update/drive.go", `is != r.Seen && !o.OnlyLook`, `is != r.Seen`},
	}},
	{"a clock that was ahead keeps a version away", "agent/lifecycle/update", "TestField2_D4AClockThatWasAheadBarsNoVersion", []edit{
		{"agent/lifecycle/update/drive.go", `since >= 0 && since < d.Times.Again`, `since < d.Times.Again`},
	}},
	{"a repository is read over a channel without a key", "agent/lifecycle/update", "TestWhereARepositoryMayBe", []edit{
		{"agent/lifecycle/update/link.go", `u.Scheme != "https" && (u.Scheme != "http" || ip == nil || !ip.IsLoopback())`, `u.Scheme != "https" && (u.Scheme != "http" || ip != nil && !ip.IsLoopback())`},
	}},
	{"an older version is taken", "agent/lifecycle/update", "TestNewer", []edit{
		{"agent/lifecycle/update/version.go", `return x > y, nil`, `return x != y, nil`},
	}},
	{"the fetched bytes are not compared with what was signed", "cross/campaign/update", "TestAttacks", []edit{
		{"agent/lifecycle/update/source.go", `if done != r.Bytes || hex.EncodeToString(sum.Sum(nil)) != r.SHA256 {`, `if done != r.Bytes {`},
		{"agent/lifecycle/update/place.go", `err != nil || got != to.SHA256`, `err != nil || got == ""`},
	}},
	{"an older state of a repository passes where its metadata were lost", "cross/campaign/update", "TestAnOlderStateAfterALoss", []edit{
		{"agent/lifecycle/update/source.go", `is.Root == was.Root && (`, `is.Root == was.Root && false && (`},
	}},

	// A roll-out that is stopped by failures.
	{"a version that the fleet holds is taken", "agent/lifecycle/update", "TestAHeldVersionIsNotTaken", []edit{
		{"agent/lifecycle/update/drive.go", `rollout.Held(d.Terminal.State, offered.Version); why != "" {`, `rollout.Held(d.Terminal.State, offered.Version); why == "never" {`},
	}},
	{"a program that never ran is told as taken back", "agent/lifecycle/update", "TestTheEndOfAnUpdateIsLeft", []edit{
		{"agent/lifecycle/update/trial.go", `if r.Unbegun {`, `if false {`},
	}},
	{"a list of holds that cannot be read holds nothing", "agent/lifecycle/rollout", "TestWhatCannotBeReadHolds", []edit{
		{"agent/lifecycle/rollout/rollout.go", `err != nil || bad != nil || there && (`, `bad != nil || err == nil && there && (`},
	}},
	{"one spoilt byte ends a hold", "agent/lifecycle/rollout", "TestWhatCannotBeReadHolds", []edit{
		{"agent/lifecycle/rollout/rollout.go", ` || h.SHA256 != sum) {`, ` || sum == "") {`},
	}},
	{"root follows a link of the terminal's account", "agent/lifecycle/rollout", "TestWhatCannotBeReadHolds", []edit{
		{"agent/lifecycle/rollout/rollout.go", `data, _, err := file.Read(path, file.NoFollow, maxFile)`, `data, _, err := file.Read(path, file.Follow, maxFile)`},
	}},
	{"a hold that was lifted stays on the box", "agent/lifecycle/rollout", "TestHeld", []edit{
		{"agent/lifecycle/rollout/rollout.go", `err == nil && bytes.Equal(was, data) {`, `err == nil && (bytes.Equal(was, data) || len(was) > 0) {`},
	}},
	{"a card number that a technician typed is told", "agent/lifecycle/enrol", "TestReport", []edit{
		{"agent/lifecycle/enrol/report.go", `last.Reason = wire.MaskPANs(last.Reason)`, `_ = wire.MaskPANs(last.Reason)`},
	}},
	{"a card number is stored at the desk", enrolment, "TestConformance", []edit{
		{"schemes/fleet/rollout.go", ` || wire.MaskPANs(s) != s {`, ` || wire.MaskPANs(s) == "" && s != "" {`},
	}},
	{"boxes that take a version back are not counted", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/rollout.go", `return takenBack >= heldBoxes &&`, `return takenBack < 0 &&`},
	}},
	{"one box holds a version", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/rollout.go", `heldBoxes = 2`, `heldBoxes = 1`},
	}},
	{"a few of many hold a version", enrolment, "TestAFewOfManyHoldNothing", []edit{
		{"schemes/backend/fleet/rollout.go", `int64(takenBack)*100 > int64(tried)*heldShare`, `int64(takenBack)*100 > int64(heldShare)`},
	}},
	{"a box that is enrolled again counts twice", enrolment, "TestABoxCountsOnce", []edit{
		{"schemes/backend/fleet/rollout.go", "`e.serial || '\\n' || e.merchant || '\\n' || e.terminal`", "`e.id`"},
	}},
	{"a lifted version is held by the boxes from before", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/rollout.go", `SET lifted = 1 WHERE`, `SET lifted = 0 WHERE`},
	}},
	{"a report needs no proof of its own", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/rollout.go", `return by.CheckReport(public, now, req)`, `_ = by.CheckReport(public, now, req); return nil`},
	}},
	{"a report makes the store grow for ever", enrolment, "TestReportsAreBounded", []edit{
		{"schemes/backend/fleet/rollout.go", `AND version NOT IN (SELECT version FROM fleet_outcome WHERE`, `AND version = '' AND version NOT IN (SELECT version FROM fleet_outcome WHERE`},
	}},
	{"a rollback that put nothing back says that it did", "cmd/posagent-update", "TestEveryExitCode", []edit{
		{"cmd/posagent-update/box.go", `		return fmt.Errorf("%w: an update that was cut off has ended first, and nothing was put back", update.ErrNotNow)`, `		return c.summary(d)`},
	}},
	{"an update begins though its call was not understood", "cmd/posagent-update", "TestEveryExitCode", []edit{
		{"cmd/usage/command.go", `case c.Args == "" && len(rest) > 0:`, `case c.Args == "" && len(rest) > 1:`},
	}},
	{"a stage begins while failures are above the bound", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/stage.go", `if tooMany(r.Failed+r.Silent, r.Taken+r.Failed) {`, `if false {`},
	}},
	{"settings are taken back by a smaller number", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/stage.go", "\t\te.revision++\n", "\t\te.revision++\n\t\tif r.State == fleet.Back {\n\t\t\te.revision -= 2\n\t\t}\n"},
	}},
	{"a roll-out that is paused goes on", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/stage.go", `WHERE state <> 'PAUSED' AND `, `WHERE `},
		{"schemes/backend/fleet/stage.go", `id = ? AND state <> 'PAUSED' AND `, `id = ? AND `},
	}},
	{"a roll-out that is paused is handed to a terminal", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/stage.go", `if len(held) > 0 {`, `if len(held) > 1 {`},
	}},
	{"what was configured since is taken back, too", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/stage.go", `if is[i].Value == r.Settings[i].Value {`, `if is[i].Key == r.Settings[i].Key {`},
	}},
	{"a moment of health is enough", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/stage.go", `now-b.healthy >= b.soak`, `now-b.healthy >= 0`},
	}},
	{"a terminal that falls silent is no failure", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/roll.go", `b.seen_ms <= ?`, `b.seen_ms < 0 AND b.seen_ms <= ?`},
	}},
	{"a stage is passed over", enrolment, "TestProcessesAdvanceOnce", []edit{
		{"schemes/backend/fleet/stage.go", `r.Stage+1, now, r.ID`, `min(r.Stage+2, 4), now, r.ID`},
	}},
	{"each roll-out begins with the same terminals", enrolment, "TestEachRollOutStartsElsewhere", []edit{
		{"schemes/backend/fleet/roll.go", `[]byte(roll + "\n" + enrolment)`, `[]byte(enrolment)`},
	}},
	{"a secret is given to all terminals", "schemes/fleet", "TestFleetwide", []edit{
		{"schemes/fleet/settings.go", `if strings.Contains(key, secret) {`, `if key == secret {`},
	}},
	{"a revision that a terminal refuses is told to nobody", "agent/lifecycle/enrol", "TestTheServiceHearsOfARefusedRevision", []edit{
		{"agent/lifecycle/enrol/report.go", `no.Number > r.Active {`, `no.Number < r.Active {`},
	}},
	{"a backend that is away for a moment is a refusal", "agent/lifecycle/enrol", "TestTheServiceHearsOfARefusedRevision", []edit{
		{"agent/lifecycle/enrol/report.go", `now.Sub(since).Abs() >= rejectedFor`, `now.Sub(since).Abs() >= 0`},
	}},
	{"the terminals of a fleet ask in the same second after a start", "cmd/posagent", "TestPollsAreSpread", []edit{
		{"cmd/posagent/poll.go", `p.next = now.Add(rand.N(p.every))`, `p.next = now.Add(p.every)`},
	}},
	{"the terminals of a fleet ask in the same second after an outage", "cmd/posagent", "TestPollsAreSpread", []edit{
		{"cmd/posagent/poll.go", `p.next = now.Add(p.every/2 + rand.N(p.every))`, `p.next = now.Add(p.every)`},
	}},
	{"a program that was interrupted says that the repository is away", "cmd/posagent-update", "TestEveryExitCode", []edit{
		{"cmd/posagent-update/main.go", "	{context.Canceled, usage.ExitInterrupted, \" (posagent-update resume goes on with it)\"},\n", ""},
	}},
}
