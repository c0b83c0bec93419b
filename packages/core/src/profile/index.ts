export { AvailabilityProfile, type Segment } from './availability-profile.ts';
