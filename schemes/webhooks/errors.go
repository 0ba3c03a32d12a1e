package webhooks

// A delivery is acknowledged by status 200 and by nothing else (S0 6.1). What Handler answers otherwise is the fault body
// of package wire, so that every code survives between a Client and a Handler of ours. A foreign receiver's status is
// read by Client as
//
//	400  Invalid            only with the receiver's own fault body
//	401  Unauthorized
//	403  Forbidden
//	404  NotFound           only with the receiver's own fault body
//	429  TooMany, with RetryAfter
//
// Everything else, other 2xx and every redirect included, is UnknownOutcome: send it again.

// ContentType is sent with events and answers.
const ContentType = "application/json; charset=utf-8"
