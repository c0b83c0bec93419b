/** Why a spec is refused. */
export interface SpecFault {
  readonly code: string;
  readonly message: string;
}
