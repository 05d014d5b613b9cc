//! Rules: which one counts, and for what.

use std::sync::Arc;

use ropewalk_protocol::{
    By, ByKind, Decision, EffectiveLevel, Policy, PolicyDecision, PolicyLevel, PolicyOrigin, PolicyPrincipal,
    PolicyPrincipalKind, PolicyTool, ProjectId, ThreadId, Timestamp,
};

use super::{
    AGENT, Asking, Effective, MAX_CALLS, ToolIdentity, choices, covers, effective, matches, remembered_key, same_key,
};
use crate::tools::SourceDefault;

use PolicyDecision::{Allow, Ask, Deny};
use PolicyLevel::{Global, Project, Thread};

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

fn default(decision: PolicyDecision) -> SourceDefault {
    SourceDefault { decision, silence_ms: 120_000, exempt_from_asking: false, why: "default of client tools".into() }
}

fn rule(level: PolicyLevel, decision: PolicyDecision) -> Policy {
    Policy {
        policy_id: format!("{level:?}-{decision:?}").into(),
        level,
        project_id: (level == Project).then(|| "pr-1".into()),
        thread_id: (level == Thread).then(|| "th-1".into()),
        tool: Some(PolicyTool { source: "client:bot".into(), name: "get_issue".into(), digest: None }),
        source: None,
        principal: None,
        connection: None,
        decision,
        timeout_ms: None,
        max_calls_per_run: MAX_CALLS,
        expires_at: None,
        origin: PolicyOrigin::Owner,
        set_by: By::of(ByKind::Client),
        at: NOW,
        matches: 0,
        revision: 1,
    }
}

fn on_source(mut rule: Policy, source: &str) -> Policy {
    rule.tool = None;
    rule.source = Some(source.into());
    rule
}

fn with_digest(mut rule: Policy, digest: &str) -> Policy {
    rule.tool.as_mut().unwrap().digest = Some(digest.into());
    rule
}

fn app(id: &str) -> PolicyPrincipal {
    PolicyPrincipal { kind: PolicyPrincipalKind::App, app_id: Some(id.into()) }
}

/// One caller in one thread, for one tool.
struct Case {
    default: SourceDefault,
    principal: PolicyPrincipal,
    rules: Vec<Arc<Policy>>,
    project_id: ProjectId,
    thread_id: ThreadId,
}

fn case(default_decision: PolicyDecision, rules: impl IntoIterator<Item = Policy>) -> Case {
    Case {
        default: default(default_decision),
        principal: AGENT,
        rules: rules.into_iter().map(Arc::new).collect(),
        project_id: "pr-1".into(),
        thread_id: "th-1".into(),
    }
}

impl Case {
    fn tool(&self) -> ToolIdentity<'_> {
        ToolIdentity { source: "client:bot", name: "get_issue", digest: "d-1", default: &self.default }
    }

    fn asking(&self) -> Asking<'_> {
        Asking {
            project_id: &self.project_id,
            thread_id: &self.thread_id,
            principal: &self.principal,
            connection: None,
            now: NOW,
        }
    }

    fn effective(&self) -> Effective {
        effective(self.tool(), &self.rules, self.asking())
    }

    fn decision(&self) -> PolicyDecision {
        self.effective().decision
    }

    fn choices(&self) -> Vec<Decision> {
        choices(self.tool(), &self.rules, self.asking(), false)
    }
}

#[test]
fn without_a_rule_the_sources_default_holds() {
    let found = case(Allow, []).effective();
    let expected = Effective {
        decision: Allow,
        level: EffectiveLevel::Default,
        policy_id: None,
        timeout_ms: None,
        max_calls: 65_535,
        why: "default of client tools".into(),
    };
    assert_eq!(found, expected);
}

#[test]
fn a_deny_at_any_level_wins_and_below_it_the_nearest_rule() {
    assert_eq!(case(Allow, [rule(Thread, Allow), rule(Global, Deny)]).decision(), Deny);
    let found = case(Allow, [rule(Global, Allow), rule(Thread, Ask), rule(Project, Allow)]).effective();
    assert_eq!((found.decision, found.level), (Ask, EffectiveLevel::Thread));
    assert_eq!((found.policy_id, found.why.as_str()), (Some("Thread-Ask".into()), "rule of the thread"));
    assert_eq!(case(Ask, [rule(Global, Ask), rule(Project, Allow)]).decision(), Allow);
}

#[test]
fn at_one_level_a_principal_comes_first_and_a_tool_before_its_source() {
    let for_agent = Policy { principal: Some(AGENT), ..rule(Thread, Allow) };
    assert_eq!(case(Ask, [for_agent.clone(), rule(Thread, Ask)]).decision(), Allow);
    let source = on_source(rule(Thread, Allow), "client:bot");
    assert_eq!(case(Ask, [source.clone(), rule(Thread, Ask)]).decision(), Ask);
    let agents_source = Policy { principal: Some(AGENT), ..source };
    assert_eq!(case(Ask, [agents_source, rule(Thread, Ask)]).decision(), Allow);
    assert_eq!(case(Ask, [for_agent, rule(Thread, Deny)]).decision(), Deny);
}

#[test]
fn a_rule_for_another_principal_project_thread_tool_or_time_does_not_count() {
    let others = [
        Policy { principal: Some(app("a")), ..rule(Thread, Deny) },
        Policy { thread_id: Some("th-2".into()), ..rule(Thread, Deny) },
        Policy { project_id: Some("pr-2".into()), ..rule(Project, Deny) },
        Policy { expires_at: Some(NOW), ..rule(Thread, Deny) },
        Policy { connection: Some("acc".into()), ..rule(Thread, Deny) },
        Policy {
            tool: Some(PolicyTool { source: "client:other".into(), name: "get_issue".into(), digest: None }),
            ..rule(Thread, Deny)
        },
    ];
    assert_eq!(case(Allow, others).decision(), Allow);
    let lasting = Policy { expires_at: Some(NOW.plus_millis(1)), ..rule(Thread, Deny) };
    assert_eq!(case(Allow, [lasting]).decision(), Deny);
}

#[test]
fn an_apps_rule_is_for_that_app_and_one_for_all_apps_for_each() {
    let mut case = case(
        Deny,
        [
            Policy { principal: Some(app("a")), ..rule(Global, Ask) },
            Policy {
                principal: Some(PolicyPrincipal { kind: PolicyPrincipalKind::App, app_id: None }),
                ..rule(Global, Allow)
            },
        ],
    );
    case.principal = app("a");
    assert_eq!(case.decision(), Ask);
    case.principal = app("b");
    assert_eq!(case.decision(), Allow);
    case.principal = AGENT;
    assert_eq!(case.decision(), Deny);
}

#[test]
fn an_allow_for_another_digest_counts_as_ask_whatever_the_default() {
    let found = case(Allow, [with_digest(rule(Global, Allow), "d-0")]).effective();
    assert_eq!((found.decision, found.why.as_str()), (Ask, "global rule, made before the tool changed"));
    assert_eq!(case(Ask, [with_digest(rule(Global, Allow), "d-1")]).decision(), Allow);
    assert_eq!(case(Ask, [rule(Global, Allow)]).decision(), Allow, "not bound yet");
    let nearer = [with_digest(rule(Global, Allow), "d-0"), with_digest(rule(Thread, Allow), "d-1")];
    assert_eq!(case(Ask, nearer).decision(), Allow);
    assert_eq!(case(Allow, [with_digest(rule(Thread, Deny), "d-0")]).decision(), Deny, "a deny holds for any digest");
}

#[test]
fn a_rule_brings_its_timeout_and_its_limit_of_calls() {
    let found =
        case(Ask, [Policy { timeout_ms: Some(5_000), max_calls_per_run: 3, ..rule(Project, Allow) }]).effective();
    assert_eq!((found.timeout_ms, found.max_calls), (Some(5_000), 3));
}

#[test]
fn a_rule_on_a_source_opens_no_tool_that_needs_its_own() {
    let asks = default(Ask);
    let tool = |name| ToolIdentity { source: "app", name, digest: "d", default: &asks };
    let allow = on_source(rule(Global, Allow), "app");
    assert!(covers(&allow, tool("app_read")));
    assert!(!covers(&allow, tool("app_security")));
    assert!(!covers(&allow, tool("app_instructions")));
    assert!(covers(&on_source(rule(Global, Deny), "app"), tool("app_security")), "a deny shuts all of them");
}

#[test]
fn what_asks_is_not_asked_about_and_can_be_denied() {
    let mut case = case(Allow, [rule(Thread, Ask)]);
    case.default.exempt_from_asking = true;
    let found = case.effective();
    assert_eq!((found.decision, found.level, found.policy_id), (Allow, EffectiveLevel::Default, None));
    assert_eq!(found.why, "exempt from asking");
    case.rules = vec![Arc::new(rule(Global, Deny))];
    assert_eq!(case.decision(), Deny);
}

#[test]
fn choices_leave_out_what_a_nearer_rule_would_undo() {
    use Decision::{Accept, AcceptAlways, AcceptForSession, Cancel, Decline};
    let all = [Accept, AcceptForSession, AcceptAlways, Decline, Cancel];
    assert_eq!(case(Ask, []).choices(), all);
    assert_eq!(case(Ask, [rule(Global, Ask)]).choices(), all);
    assert_eq!(case(Ask, [rule(Project, Ask)]).choices(), all, "it replaces the project's own");
    assert_eq!(case(Ask, [rule(Thread, Ask)]).choices(), [Accept, AcceptForSession, Decline, Cancel]);
    let for_agent = Policy { principal: Some(AGENT), ..rule(Thread, Ask) };
    assert_eq!(case(Ask, [for_agent]).choices(), [Accept, AcceptForSession, Decline, Cancel]);
    assert_eq!(case(Ask, [with_digest(rule(Thread, Allow), "d-0")]).choices()[1], AcceptForSession);
    let agents_source = Policy { principal: Some(AGENT), ..on_source(rule(Thread, Ask), "client:bot") };
    assert_eq!(case(Ask, [agents_source]).choices(), [Accept, Decline, Cancel], "a principal comes before a tool");
    let case = case(Ask, []);
    assert_eq!(choices(case.tool(), &case.rules, case.asking(), true), [Accept, Decline, Cancel]);
}

#[test]
fn a_remembered_allow_takes_the_place_of_the_rule_that_asked() {
    let for_agent = Policy { principal: Some(AGENT), ..rule(Thread, Ask) };
    let mut case = case(Ask, [for_agent, rule(Project, Ask)]);
    let key = |case: &Case, level| remembered_key(case.tool(), &case.rules, case.asking(), level);
    assert_eq!(key(&case, Thread).principal, Some(AGENT));
    assert_eq!(key(&case, Project).principal, None);
    assert_eq!(key(&case, Thread).tool.digest.as_deref(), Some("d-1"));
    case.principal = app("a");
    assert_eq!(key(&case, Global).principal, Some(app("a")));
}

#[test]
fn a_second_rule_about_the_same_replaces_the_first() {
    assert!(same_key(&rule(Thread, Ask), &with_digest(rule(Thread, Allow), "d-9")));
    assert!(!same_key(&rule(Thread, Ask), &rule(Project, Ask)));
    assert!(!same_key(&rule(Thread, Ask), &Policy { principal: Some(AGENT), ..rule(Thread, Ask) }));
    assert!(!same_key(&rule(Thread, Ask), &on_source(rule(Thread, Ask), "client:bot")));
}

#[test]
fn a_rule_that_matches_nothing_is_seen() {
    let allows = default(Allow);
    let tool = |source, name| ToolIdentity { source, name, digest: "d", default: &allows };
    let tools = [tool("client:bot", "get_issue"), tool("client:bot", "list_issues"), tool("app", "get_issue")];
    assert_eq!(matches(&rule(Thread, Ask), tools), 1);
    assert_eq!(matches(&on_source(rule(Thread, Ask), "client:bot"), tools), 2);
    assert_eq!(matches(&on_source(rule(Thread, Ask), "client:gone"), tools), 0);
}

#[test]
fn app_208_a_run_may_call_a_tool_65535_times_unless_a_rule_says_otherwise() {
    assert_eq!(super::MAX_CALLS, 65_535);
}
