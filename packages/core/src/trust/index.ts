export {
  defaultConvictionRules,
  isConvicted,
  judgeOutvoted,
  type ConvictionRules,
  type Verdict,
} from './conviction.ts';
export {
  getCredibilityMax,
  credibilityOfGroups,
  credibilityOfMachine,
  decideByCredibility,
  defaultCredibilityRules,
  type CredibilityRules,
  type CredibilityWanted,
} from './credibility.ts';
export { isSpotCheck, type SpotCheckRules } from './spot-check.ts';
export {
  decideByMajority,
  groupVotes,
  getMajority,
  getVotesMax,
  type Decision,
  type Vote,
  type VoteGroup,
} from './vote.ts';
