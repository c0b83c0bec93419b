export { verifyClaim, type SignedClaim } from './signed-claim.ts';
export { openClaimSigner, type ClaimSigner } from './claim-signer.ts';
