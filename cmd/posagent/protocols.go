package main

import (
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"posagent/agent/config"
	"posagent/ecr"
	"posagent/ecr/caisseap"
	caisse "posagent/ecr/caisseap/protocol"
	"posagent/ecr/ecr17"
	italian "posagent/ecr/ecr17/protocol"
	"posagent/ecr/jsonl"
	jsonlines "posagent/ecr/jsonl/protocol"
	"posagent/ecr/zvt"
	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
	"posagent/ecr/zvt/protocol"
)

// box is what a protocol says of the terminal, beside its configuration.
type box struct {
	version, serial string
	sandbox         bool
	state           string    // its state directory
	past            time.Time // that is certainly over: the backend has told it
	log             *slog.Logger
	addresses       func() ([]netip.Addr, error) // that the box has
}

// protocols are the protocols that registers speak, by their names. A new one is a row here.
var protocols = map[string]func(config.Config, config.ECR, box) (ecr.Protocol, error){
	"zvt":       zvtOf,
	"jsonl":     jsonlOf,
	"nexo":      nexoOf,
	"ecr17":     ecr17Of,
	"caisse-ap": caisseOf,
}

// jsonlOf returns JSON lines as they are configured.
func jsonlOf(cfg config.Config, e config.ECR, b box) (ecr.Protocol, error) {
	t := cfg.Terminal
	return jsonlines.New(jsonlines.Options{JSONL: jsonl.Config{
		TerminalID: t.TerminalID, Currency: t.Currency, MerchantName: t.MerchantName, Language: t.Language, Version: b.version,
		Sandbox: b.sandbox, Password: e.Password,
	}}), nil
}

// caisseOf returns Caisse-AP as it is configured.
func caisseOf(cfg config.Config, e config.ECR, _ box) (ecr.Protocol, error) {
	t := cfg.Terminal
	return caisse.New(caisse.Options{Config: caisseap.Config{Currency: t.Currency, Language: t.Language, Patience: e.Patience, Identified: e.Identified}}), nil
}

// ecr17Of returns ECR17 as it is configured. The log names the scope that a register's check bytes fit,
// once, where that is another one than the line's.
func ecr17Of(cfg config.Config, e config.ECR, b box) (ecr.Protocol, error) {
	scope, ok := ecr17.ParseScope(e.LRC)
	if !ok {
		return ecr.Protocol{}, fail(exitConfig, "config: ecr.lrc: %q is not known", e.LRC)
	}
	t := cfg.Terminal
	var once sync.Once
	return italian.New(italian.Options{
		Config: ecr17.Config{
			TerminalID: e.TerminalID, Currency: t.Currency, MerchantName: t.MerchantName, Language: t.Language, Version: b.version, Patience: e.Patience,
		},
		Scope: scope,
		Foreign: func(fits string) {
			once.Do(func() {
				b.log.Warn("the register makes its check byte otherwise: set lrc in its [[ecr]] section", "lrc", e.LRC, "fits", fits)
			})
		},
	}), nil
}

// zvtOf returns ZVT as it is configured; it fails where the character set is not known.
func zvtOf(cfg config.Config, e config.ECR, b box) (ecr.Protocol, error) {
	charset, ok := apdu.ParseCharset(e.Charset)
	if !ok {
		return ecr.Protocol{}, fail(exitConfig, "config: ecr.charset: %q is not known", e.Charset)
	}
	manner, ok := zvt.ParseManner(e.Profile)
	if !ok {
		return ecr.Protocol{}, fail(exitConfig, "config: ecr.profile: %q is not known", e.Profile)
	}
	t := cfg.Terminal
	return protocol.New(protocol.Options{
		ZVT: zvt.Config{
			TerminalID: t.TerminalID, Currency: t.Currency, MerchantName: t.MerchantName, Language: t.Language,
			Device: "posagent", Version: b.version, Serial: b.serial, Charset: charset, Password: e.Password, Baud: e.Baud,
			Contract: t.MerchantID, Manner: manner, Prints: cfg.Printer.Device != "",
		},
		Frame: frame.Config{T1: e.T1},
	}), nil
}
