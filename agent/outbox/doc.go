// Package outbox is the durable queue of backend writes: it accepts an operation in the caller's own commit,
// orders it behind the earlier ones of its aggregate, sends it, and settles it. Payloads are opaque to it.
//
// It owns the tables outbox_ops, outbox_sums, outbox_purged and outbox_clock.
//
// It guarantees:
//   - an accepted operation is durable with the caller's change, or neither is;
//   - accepting one Key twice is one operation; the same Key with another content is refused;
//   - within an aggregate an operation is sent only after every earlier one is final;
//   - the state SENT is durable before the first byte leaves, so a crash never turns "maybe sent" into "unsent";
//   - what is read before that (Kind.Reads) is durable with SENT: a crash in the reading leaves the operation PENDING, and nothing that
//     cannot have left the terminal is ever in DOUBT;
//   - an operation that was sent ends by the kind's verdict only, never by age: it ends DONE or FAILED, or it
//     is in DOUBT, visibly, until somebody resolves it (MONEY C.1, C.5);
//   - it is never sent under another Key;
//   - Kind.Settled runs in the commit that makes the operation final or in doubt, Kind.After follows it;
//   - a row whose stored fields were changed behind its back is HELD, not sent;
//   - a sender that panics or a payload that cannot be read stops its own aggregate only;
//   - the payload's key is destroyed when the operation is final; the result stays readable until the operation is purged;
//   - it is purged only when it, and everything of its aggregate, was final for the whole retention; the report keeps its sums.
//
// It must not import the services' packages (agent/offline adapts them), net/http or the checkout.
//
// Decisions.
//
// 2026-11-21. DOUBT and HELD are not final: they keep the operations behind them waiting, because sending the
// next step of a thing whose state is not known is how money moves twice. Hold, Release, SendNow and Resolve end the wait.
//
// 2026-11-21. Ages count the agent's own running time (MONEY B.12): outbox_clock accumulates what the boot
// clock measures while Run is alive, so neither a jump of the wall clock nor a night without power expires
// anything. The backend's memory of a Key is another matter, it forgets while the box is off (MONEY C.3): for
// the 24 h of Options.IdempotencyTTL the time between two runs is added, measured once by the wall clock as
// soon as that is not behind the last stored instant. A wall clock that went back leaves that time unknown and
// counted as none; TLS refuses to talk with such a clock anyway.
//
// 2026-11-21. An operation past the TTL goes to DOUBT; only a kind that can find out by reading
// (Kind.Asks) is still called, with Op.ReadOnly set, and must not send then.
//
// 2026-11-21. Back-off: 1 s doubling to 20 s with jitter for one operation. When a service (Kind.Service) does
// not answer, one operation at a time is its probe and the others wait without being touched; they follow
// once one gets through. With Options.Probe the cheap probe runs first, at most 20 s apart; without it the
// interval grows to 5 minutes. A Retry-After is honoured up to 5 minutes.
//
// 2026-11-21. 401 and 403 pause the service in the same way and are shown by Services; the operation itself
// stays what it was.
//
// 2026-11-22. What Send compares with (Kind.Reads) is read before SENT is committed, and stored in that commit: the reading costs no flush,
// and other kinds nothing at all. It is read again before every send that may be the first to arrive, because somebody else's change in
// the meantime would be taken for ours.
//
// 2026-11-22. EXPIRED is whatever was never sent and is given up: too old, or withdrawn by whoever wanted it. A sender may say it of an
// operation that no earlier attempt has sent; of any other it proves nothing.
//
// 2026-11-22. In a journal that was put back from an earlier time every operation may have been sent, and settled, since. Released,
// it counts as sent once, right after the journal's last saved clock: within the TTL it is sent again under its Key, past it only
// read, or in doubt (MONEY C.3).
//
// 2026-11-22. To accept costs 22 us of the writer where it cost 47 (64 callers, no disk): a row keeps its data key itself, wrapped,
// instead of in a second table; Seal does what needs no Write beside the other callers; the id is counted in memory; a Key that comes
// again is found by the insert that fails.
//
// 2026-11-21. A kind with Breaks fails the operations behind it when it fails (MONEY C.4: a rejected create
// fails its dependants). Those are never sent, and their Settled runs in the same commit.
//
// 2026-11-22. A long outage leaves a million operations, and a status must not count them: outbox_sums has them by kind, currency
// and state. Triggers keep it rather than our statements, so that it agrees with the rows whoever changes them. What was accepted since the
// last multiple of sumEvery is not in it yet, and the report counts that row by row: most operations live and end in between, and the
// sums' page is not written for them. A list is
// found by the sums too: few are read by their state, many by walking the ids from the oldest that matches. For that running time never goes
// back, also in a crash: the last accepted operation shows how late it was.
//
// 2026-11-22. An operation is purged after Options.Retention of running time from its end, fifty in a commit, with its whole aggregate:
// a thing whose history was half deleted would show wrong sums. Once an hour, so that a quiet terminal does not write for it. What a power cut
// takes from the clock keeps operations longer, never shorter. A row that does not verify is held instead of deleted: its state
// may have been altered, and then it is money that waits. Ids are not given again, and outbox_purged has what was deleted, for the report.
// The key destroyed with each row makes the store truncate its log within a minute: then nothing of it lies in the file or the log.
package outbox
