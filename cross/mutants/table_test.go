package mutants

import "slices"

// edit replaces a text that stands exactly once in a file.
type edit struct{ file, old, new string }

// mutant is one broken rule and the test that has to notice.
type mutant struct {
	name  string
	pkg   string // of the test
	run   string // -run pattern
	edits []edit
}

const (
	drive    = "agent/checkout/drive"
	checkout = "agent/checkout"
	outbox   = "agent/outbox"
	offline  = "agent/gateway"
	frame    = "ecr/zvt/frame"
	protocol = "ecr/zvt/protocol"
	crashfs  = "store/crashfs"
	inbox    = "agent/inbox"
	sessions = "schemes/backend/hosted"
	cases    = "schemes/backend/disputes"

	enrolment = "schemes/backend/fleet"

	backendRoom = "schemes/backend/room"
)

// table is every mutant, by the room whose test notices it.
var table = slices.Concat(ofStore, ofCheckout, ofECR, ofClients, ofSchemes, ofAgent, ofEnrolment, ofUpdates, ofField, ofPerson, ofKeypad, ofHand, ofScreens, ofPrinter, ofTills, ofSales, ofBank, ofJSONLines, ofBack, ofPage, ofNexo, ofReconcile, ofSaid, ofAsked, ofDeaths, ofECR17, ofTorture, ofCampaigns, ofCommands, ofShared, ofWatch, ofDoctors, ofMoney, ofWrites, ofIdentity, ofServices, ofGiven, ofVerbs, ofLaws, ofBooks)
