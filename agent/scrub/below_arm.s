#include "textflag.h"

// func below()
TEXT ·below(SB), NOSPLIT, $0-0
	MOVW 0(g), R0 // stack.lo, the first word of a goroutine's record
	MOVW R13, R1
	SUB  $128, R1
	MOVW $0, R2

next:
	CMP  R1, R0
	BHS  done
	MOVW R2, (R0)
	ADD  $4, R0
	B    next

done:
	RET
