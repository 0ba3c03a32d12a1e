package mutants

const (
	caisseAP     = "ecr/caisseap"
	caisseAPLine = "ecr/caisseap/protocol"
)

// ofBank is every broken rule of the national protocols of registers.
var ofBank = []mutant{
	{"Caisse-AP answers in two writes", caisseAPLine, "TestTheAnswerIsOneWrite", []edit{
		{"ecr/caisseap/protocol/carry.go", `	if _, err := c.conn.Write(data); err != nil {`, `	_, _ = c.conn.Write(data[:9])
	if _, err := c.conn.Write(data[9:]); err != nil {`},
	}},
	{"Caisse-AP takes any end of the connection for told", caisseAPLine, "TestMoneyF5_ToldOverTCP", []edit{
		{"ecr/caisseap/protocol/carry.go", `	if !errors.Is(c.last, io.EOF) {`, `	if errors.Is(c.last, io.ErrShortWrite) {`},
	}},
	{"Caisse-AP takes a register that stays for told", caisseAPLine, "TestARegisterThatStaysIsNotTold", []edit{
		{"ecr/caisseap/protocol/carry.go", `		return c.End(errStays)`, `		return nil`},
	}},
	{"Caisse-AP answers a register that has left", caisseAPLine, "TestMoneyF5_ToldOverTCP", []edit{
		{"ecr/caisseap/protocol/carry.go", `	case !there(c.conn):`, `	case false && !there(c.conn):`},
	}},
	{"Caisse-AP waits for its till's end", caisseAPLine, "TestMoneyF5_ToldOverTCP", []edit{
		{"ecr/caisseap/protocol/carry.go", `		_ = half.CloseWrite()`, `		_ = half`},
	}},
	{"Caisse-AP waits for a stranger's request", caisseAPLine, "TestRequestsEnd", []edit{
		{"ecr/caisseap/protocol/carry.go", `		case state == caisseap.Strange:`, `		case state == caisseap.Strange && len(data) > 5:`},
	}},
	{"Caisse-AP: an unheard approval is kept", caisseAP, "TestMatrix", []edit{
		{"ecr/caisseap/dialogue.go", `		if !ok && how == ecr.Told {
			how = ecr.Lost`, `		if false {
			how = ecr.Lost`},
	}},
	{"Caisse-AP: AE 10 for a register that has left", caisseAP, "TestMatrix", []edit{
		{"ecr/caisseap/table.go", `	saleEnded:    {ignore, ignore, tell, give, ignore, give, ignore},`, `	saleEnded:    {ignore, ignore, tell, give, ignore, tell, ignore},`},
	}},
	{"Caisse-AP: a sale goes on without its register", caisseAP, "TestMatrix", []edit{
		{"ecr/caisseap/dialogue.go", `		if d.sale != "" {
			d.abort()
		}
		d.phase = leaving`, `		d.phase = leaving`},
	}},
	{"Caisse-AP: an approval after the deadline is kept", caisseAP, "TestDialogues", []edit{
		{"ecr/caisseap/dialogue.go", `		how = ecr.Refused`, `		how = ecr.Lost`},
	}},
	{"Caisse-AP: a field that comes late is left out", caisseAP, "TestDialogues", []edit{
		{"ecr/caisseap/table.go", `	bytesCame:    {take, spoil, spoil,`, `	bytesCame:    {take, ignore, ignore,`},
	}},
	{"Caisse-AP: the tills of a line are one", caisseAPLine, "TestConformance", []edit{
		{"ecr/caisseap/dialogue.go", `d.line+"/"+till(d.r.fields.Get("CA"))`, `d.line+"/"+till("")`},
	}},
}
