package methods

// The codes of this service: every code of package wire survives its wire, because the code stands in
// the fault's params (wire.WriteFault). From a foreign service, by status: 400 Invalid, 401 Unauthorized,
// 403 Forbidden, 404 NotFound, 429 TooMany, 500 Internal; 400, 404 and 500 only with the service's
// own body; everything else, and anything that is no readable list, is Unavailable.

// ContentType of every answer.
const ContentType = "application/json;charset=utf-8"
