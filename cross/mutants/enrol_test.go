package mutants

// ofEnrolment is what keeps bundles and renewals safe.
var ofEnrolment = []mutant{
	// The file.
	{"a bundle need not be signed", "schemes/fleet", "TestABundleIsSigned", []edit{
		{"schemes/fleet/bundle.go", `if err != nil || !ed25519.Verify(public, b.signedText(), sig) {`, `if err != nil && len(sig)+len(public) == 0 {`},
	}},
	{"a bundle's signature leaves the box out", "schemes/fleet", "TestABundleIsSigned", []edit{
		{"schemes/fleet/bundle.go", `b.EnrolmentID, b.SerialNumber, b.URL,`, `b.EnrolmentID, b.URL,`},
	}},
	{"a bundle is any operator's", "schemes/fleet", "TestABundleIsSigned", []edit{
		{"schemes/fleet/bundle.go", `fingerprint != "" && !strings.EqualFold(have, fingerprint)`, `false`},
	}},
	{"a bundle's configuration is another enrolment's", "schemes/fleet", "TestABundleIsSigned", []edit{
		{"schemes/fleet/bundle.go", `if err := VerifyRevision(authority, b.EnrolmentID, b.Configuration); err != nil {`, `if err := VerifyRevision(authority, b.EnrolmentID, b.Configuration); err != nil && false {`},
	}},
	{"a bundle that was cut off is read", "schemes/fleet", "TestABundleIsWhole", []edit{
		{"schemes/fleet/bundle.go", `!bytes.Equal(sum[:], file[whole:])`, `false && !bytes.Equal(sum[:], file[whole:])`},
	}},
	{"one nonce serves two bundles", "schemes/fleet", "TestABundleFile", []edit{
		{"schemes/fleet/bundle.go", "\th.Write(plain)\n", ""},
	}},
	{"a link on a stick is followed", "cmd/posagent", "TestScripts", []edit{
		{"cmd/posagent/bundled.go", `file.Open(name, file.NoFollow)`, `file.Open(name, file.Follow)`},
	}},

	// The desk.
	{"a bundle is made while another box is the terminal", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/live.go", `if len(ids) == 0 {`, `if true {`},
	}},
	{"a bundle outlives the confirmation of another box", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/live.go", `bundle <> 0 AND expires_ms`, `bundle < 0 AND expires_ms`},
	}},
	{"a certificate is made whenever one is asked for", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/renew.go", `&& !now.Before(half) &&`, `&& (true || !now.Before(half)) &&`},
	}},
	{"a lost renewal makes a second certificate", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/renew.go", `stampTime(was.NotAfter) == req.ExpiresAt && !now.Before(half)`, `(stampTime(was.NotAfter) != req.ExpiresAt || !now.Before(half))`},
	}},
	{"a renewal needs no proof of its own", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/renew.go", `return by.CheckRenewal(public, now, req)`, `_ = by.CheckRenewal(public, now, req); return nil`},
	}},
	{"a device that was revoked is forgotten", enrolment, "TestWhatHasEndedIsPurged", []edit{
		{"schemes/backend/fleet/purge.go", `WHERE device = '' AND (`, `WHERE (`},
	}},
	{"a configuration in use is purged", enrolment, "TestWhatHasEndedIsPurged", []edit{
		{"schemes/backend/fleet/purge.go", `number >= revision OR number = confirmed_revision`, `number > revision`},
	}},

	// The box.
	{"a bundle is used on a journal from before", "agent/lifecycle/enrol", "TestABundleIsUsedOnItsOwnJournal", []edit{
		{"agent/lifecycle/enrol/bundle.go", `return j.Generation == 0 || j.Untouched || x.Generation == j.Generation`, `return true`},
	}},
	{"a bundle takes away what was confirmed", "agent/lifecycle/enrol", "TestABundleTakesNothingConfirmedAway", []edit{
		{"agent/lifecycle/enrol/bundle.go", `n.Bundle.InUse && (r.Now == nil || r.Now.Revoked != "") {`, `n.Bundle.InUse {`},
		{"agent/lifecycle/enrol/bundle.go", `(r.Now == nil || r.Now.Revoked != "") && next.Bundle.began(j)`, `next.Bundle.began(j)`},
	}},
	{"another box's bundle is taken up", "agent/lifecycle/enrol", "TestBundlesThatAreRefused", []edit{
		{"agent/lifecycle/enrol/bundle.go", `if bundle.SerialNumber != serialNumber {`, `if false {`},
	}},
	{"an older bundle is taken up", "agent/lifecycle/enrol", "TestBundlesThatAreRefused", []edit{
		{"agent/lifecycle/enrol/bundle.go", `if bundle.Made().Before(has) {`, `if false {`},
	}},
	{"a bundle is taken up after its time", "agent/lifecycle/enrol", "TestBundlesThatAreRefused", []edit{
		{"agent/lifecycle/enrol/bundle.go", `if !now.Before(bundle.Until()) {`, `if false {`},
	}},
	{"a bundle that is used up is taken up again", "agent/lifecycle/enrol", "TestABundleThatComesToNothing", []edit{
		{"agent/lifecycle/enrol/bundle.go", `if r.Barred != "" && !bundle`, `if false && !bundle`},
	}},
	{"a terminal works with a bundle for ever", "agent/lifecycle/enrol", "TestABundleThatComesToNothing", []edit{
		{"agent/lifecycle/enrol/box.go", `Revoked: e.Bundle.overdue(b.now()), `, ``},
	}},
	{"what a refused bundle has stored is left behind", "agent/lifecycle/enrol", "TestABundleThatComesToNothing", []edit{
		{"agent/lifecycle/enrol/drive.go", "\t\tr.end(e, words)\n", ""},
	}},
	{"a bundle is redeemed by another enrolment's code", "agent/lifecycle/enrol", "TestABundleAndItsCodeBelongTogether", []edit{
		{"agent/lifecycle/enrol/drive.go", `if s.e.Bundle != nil && got.EnrolmentID != s.e.ID {`, `if false {`},
	}},
	{"a renewed certificate is believed from any fleet", "agent/lifecycle/enrol", "TestACertificateIsRenewed", []edit{
		{"agent/lifecycle/enrol/renew.go", `err = fleet.VerifyCertificate(got.Certificate, authority, key.Public(), now)`, `_ = authority`},
	}},
	{"a renewed certificate is not kept", "agent/lifecycle/enrol", "TestACertificateIsRenewed", []edit{
		{"agent/lifecycle/enrol/renew.go", `return r.Now.ExpiresAt, b.write(r)`, `return r.Now.ExpiresAt, nil`},
	}},
	{"a running terminal lets its certificate end", "cmd/posagent", "TestARunningTerminalRenewsItsCertificate", []edit{
		{"cmd/posagent/bundled.go", `until, err = r.box.Renew(ctx, r.driver)`, `_ = ctx`},
	}},
	{"a renewed certificate wants the backend's answer anew", "cmd/posagent", "TestARenewedCertificateNeedsNoNewProof", []edit{
		{"cmd/posagent/upstream.go", `return cert.RawSubjectPublicKeyInfo`, `return cert.Raw`},
	}},

	// The terminal.
	{"a terminal is READY before it is confirmed", "agent/ready", "TestField_U2WhenARegisterMayAsk", []edit{
		{"agent/ready/ready.go", `case f.Barred != nil:`, `case false:`},
	}},
	{"a register is answered before the terminal is confirmed", "cmd/posagent", "TestScripts", []edit{
		{"cmd/posagent/run.go", "cfg.NoRegisters()\n\t\terr := runOn(", `err := runOn(`},
	}},
	{"a journal that was put back is used before it is confirmed", "cmd/posagent", "TestScripts", []edit{
		{"cmd/posagent/run.go", `if err := ownJournal(ctx, c, db, on); err != nil {`, `if err := ownJournal(ctx, c, db, on); err != nil && false {`},
	}},
	{"anything is stored for an address that nobody has signed", offline, "TestTheOperatorVouches", []edit{
		{"agent/gateway/accept.go", `vouched := slices.Contains(f.o.Vouched, b.Service)`, `vouched := true`},
	}},
	{"a service that refuses the terminal is stored for", offline, "TestTheOperatorVouches", []edit{
		{"agent/gateway/accept.go", `case vouched && (code == wire.Unavailable || code == wire.UnknownOutcome):`, `case vouched && code != "":`},
	}},
	{"the operator vouches for what this box has typed", "cmd/posagent", "TestTheOperatorVouchesForItsOwnAddresses", []edit{
		{"cmd/posagent/bundled.go", `strings.HasPrefix(origin[key], layerName(on.Revision)+":")`, `strings.Contains(origin[key], ":")`},
	}},
	{"an outage counts against a revision", "cmd/posagent", "TestField2_L6OnlyTimeThatSpeaksAgainstItCounts", []edit{
		{"cmd/posagent/proving.go", `case !p.better(ctx, report):`, `case false:`},
	}},
	{"a revision is given up where the one before reaches no backend either", "cmd/posagent", "TestField2_L6TheOneBeforeMustDoBetter", []edit{
		{"cmd/posagent/proving.go", `return reached(ctx, r.c, was) == nil`, `return true`},
	}},
	{"the report of an earlier life makes a terminal READY", "cmd/posagent", "TestField2_L10AReportIsOfItsProcess", []edit{
		{"cmd/posagent/live.go", `live.Process == device.Process(pid))`, `live.Process == device.Process(pid) || pid > 0)`},
	}},
}
