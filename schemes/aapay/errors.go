package aapay

// The codes of this service: every code of package wire survives its wire, because the code stands in
// the fault's params (wire.WriteFault). From a foreign service, by status, the first five only with
// the service's own body:
//
//	400  Invalid
//	404  NotFound
//	409  KeyReused on the idempotent route, else Conflict
//	422  KeyReused on the idempotent route, else Invalid
//	500  Internal on a status read
//	401  Unauthorized
//	403  Forbidden
//	429  TooMany, with RetryAfter
//
// Everything else, and every body that is not what the status promises, is UnknownOutcome on an initialize
// and Unavailable on a status read.

// ContentType is sent with requests and answers (S1 4.3, 9).
const ContentType = "application/json;charset=utf-8;version=" + version

const version = "2.0"
