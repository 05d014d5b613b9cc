//! `app_security` over a wire, and how far the App tools reach: what a run changes of all that a client can change.

use serde_json::{Value, json};

use super::{
    Fresh, Raw,
    app_threads::{changed, ready},
    signals::{heard, quiet, watcher},
    told_text,
};

scenarios! { $ app_security
    wire:
        app_1_a_run_reads_and_changes_one_of_each_of_the_eight_kinds_of_data
        app_137_a_run_edits_another_project
        app_140_presence_flags_that_lie_are_computed_anew
        app_161_a_grant_of_everything_is_one_approval;
    clock:
        app_3_a_repository_is_made_a_project_in_three_writes_that_a_client_hears_of;
}

const PROJECTS: &str = "mcp_app__app_projects";
const THREADS: &str = "mcp_app__app_threads";
const RUNS: &str = "mcp_app__app_runs";
const SECURITY: &str = "mcp_app__app_security";

/// Lets the rules ask about nothing of the App tools that they can decide about.
async fn trusting(subject: &Fresh) -> (Raw, Value) {
    let (mut bot, thread) = ready(subject).await;
    let own = json!({"level": "global", "tool": {"source": "app", "name": "app_security"}, "decision": "allow"});
    bot.call("policy/set", own).await;
    (bot, thread)
}

/// Has a run make a change that is asked about and accepted; what was asked, and what came of it.
async fn agreed(bot: &mut Raw, from: &Value, tool: &str, arguments: Value) -> (Value, Value) {
    let run = bot.submit(from, &format!("call {tool} {arguments}")).await;
    let approval = bot.asked("approval/request").await;
    bot.reply(&approval, json!({"decision": "accept"})).await;
    bot.ended(&run).await;
    let item = bot.calls(from).await.pop().expect("there was a call");
    assert_eq!(item["structuredContent"]["status"], "Applied", "{}", told_text(&item));
    (approval["params"].clone(), item["structuredContent"].clone())
}

async fn revision_of(bot: &mut Raw, project: &Value) -> Value {
    bot.call("project/read", json!({"projectId": project})).await["project"]["revision"].clone()
}

pub(super) async fn app_3_a_repository_is_made_a_project_in_three_writes_that_a_client_hears_of(subject: Fresh) {
    let mut bot = subject.bot().await;
    let from = bot.start(&[]).await;
    let mut watch = watcher(&subject, "in-W").await;
    quiet(&subject, &mut watch).await;
    let create = json!({"operation": "Create", "operationId": "make", "name": "Repository"});
    let (_, made) = agreed(&mut bot, &from, PROJECTS, create).await;
    let project = made["projectId"].clone();
    heard(&subject, &mut watch, "the project", "project", &project).await;

    let grant = json!({
        "operation": "AddDirectoryGrant", "operationId": "grant", "projectId": project, "path": std::env::temp_dir(),
        "capabilities": ["read"], "expectedRevision": made["revision"],
    });
    let (asked, granted) = agreed(&mut bot, &from, SECURITY, grant).await;
    assert_eq!(asked["change"]["before"], json!({"grants": []}), "{asked}");
    heard(&subject, &mut watch, "the grant", "grant", &granted["current"]["grantId"]).await;

    let rule = json!({
        "operation": "SetProjectToolPolicy", "operationId": "rule", "projectId": project,
        "tool": {"source": "files", "name": "write_file"}, "decision": "ask",
    });
    let (_, ruled) = agreed(&mut bot, &from, SECURITY, rule).await;
    heard(&subject, &mut watch, "the rule", "policy", &ruled["current"]["policyId"]).await;

    let shown = watch.call("project/read", json!({"projectId": project})).await["project"].clone();
    assert_eq!((&shown["name"], &shown["grants"][0]["capabilities"]), (&json!("Repository"), &json!(["read"])));
    assert_eq!(shown["policies"][0]["tool"]["name"], "write_file", "{shown}");
}

pub(super) async fn app_161_a_grant_of_everything_is_one_approval(subject: Fresh) {
    let (mut bot, from) = trusting(&subject).await;
    let project = bot.project_of(&from).await;
    let grant = json!({
        "operation": "AddDirectoryGrant", "operationId": "all", "path": "/", "capabilities": ["read", "write"],
        "expectedRevision": revision_of(&mut bot, &project).await,
    });
    let (asked, _) = agreed(&mut bot, &from, SECURITY, grant).await;
    assert_eq!(asked["change"]["after"], json!({"grants": [{"path": "/", "capabilities": ["read", "write"]}]}));
    bot.settle_down().await;
    let others = bot.seen(|line| line["method"] == "approval/request").len();
    assert_eq!(others, 0, "the one that was answered was the only one");
    let grants = bot.call("grant/list", json!({"projectId": project})).await;
    assert_eq!(grants["items"][0]["path"], "/", "{grants}");
}

pub(super) async fn app_140_presence_flags_that_lie_are_computed_anew(subject: Fresh) {
    let (mut bot, from) = trusting(&subject).await;
    let mut with = json!({
        "name": "with", "provider": "openaiCompatible", "baseUrl": "https://a.example/v1", "model": "m",
    });
    let keyed = bot.call("endpoint/set", with.clone()).await["endpoint"]["endpointId"].clone();
    bot.call("secret/set", json!({"endpointId": keyed, "value": "sk-there"})).await;
    bot.call("thread/update", json!({"threadId": from, "endpointId": "scripted"})).await;
    let of = |bot: Value, id: &Value| {
        bot["items"].as_array().unwrap().iter().find(|one| one["endpointId"] == *id).cloned().expect("it is listed")
    };
    let revision = of(bot.call("endpoint/list", json!({})).await, &keyed)["revision"].clone();

    // The document of the model says that there is no key where there is one, and the other way round.
    let denies = json!({
        "operation": "UpsertEndpoint", "operationId": "o1", "endpointId": keyed, "expectedRevision": revision,
        "endpoint": {"model": "n", "hasCredential": false},
    });
    let (_, told) = agreed(&mut bot, &from, SECURITY, denies).await;
    assert_eq!((&told["current"]["model"], &told["current"]["hasCredential"]), (&json!("n"), &json!(true)), "{told}");
    with["name"] = json!("without");
    with["hasCredential"] = json!(true);
    let claims = json!({"operation": "UpsertEndpoint", "operationId": "o2", "endpoint": with});
    let (_, told) = agreed(&mut bot, &from, SECURITY, claims).await;
    assert_eq!(told["current"]["hasCredential"], false, "{told}");

    let list = bot.call("endpoint/list", json!({})).await;
    assert_eq!(of(list.clone(), &keyed)["hasCredential"], true);
    assert_eq!(of(list, &told["current"]["endpointId"])["hasCredential"], false);
}

pub(super) async fn app_137_a_run_edits_another_project(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let other = bot.call("project/create", json!({"name": "Other"})).await["project"]["projectId"].clone();
    assert_ne!(bot.project_of(&from).await, other);
    let update = json!({
        "operation": "Update", "operationId": "o", "projectId": other, "name": "Renamed",
        "expectedRevision": revision_of(&mut bot, &other).await,
    });
    let item = changed(&mut bot, &from, PROJECTS, update).await;
    assert_eq!(item["structuredContent"]["status"], "Applied", "{item}");
    let shown = bot.call("project/read", json!({"projectId": other})).await["project"].clone();
    assert_eq!(shown["name"], "Renamed");
    let create = json!({"operation": "Create", "operationId": "o2", "projectId": other, "title": "There"});
    let made = changed(&mut bot, &from, THREADS, create).await["structuredContent"]["threadId"].clone();
    assert_eq!(bot.project_of(&made).await, other);
}

/// Has a run read a resource that shows this word.
async fn shows(bot: &mut Raw, from: &Value, arguments: Value, word: &str) {
    let item = changed(bot, from, "mcp_app__app_read", arguments.clone()).await;
    let page = item["structuredContent"].to_string();
    assert!(page.contains(word), "{arguments}: no {word} in {page}");
}

async fn applied(bot: &mut Raw, from: &Value, tool: &str, arguments: Value) {
    let item = changed(bot, from, tool, arguments).await;
    assert_eq!(item["structuredContent"]["status"], "Applied", "{}", told_text(&item));
}

pub(super) async fn app_1_a_run_reads_and_changes_one_of_each_of_the_eight_kinds_of_data(subject: Fresh) {
    let (mut bot, from) = trusting(&subject).await;
    let other = bot.start(&[]).await;
    let id = other.as_str().unwrap().to_owned();
    bot.run(&other, "say heard").await;

    shows(&mut bot, &from, json!({"resource": "Projects"}), "projectId").await;
    applied(&mut bot, &from, PROJECTS, json!({"operation": "Create", "operationId": "o1", "name": "Made"})).await;
    assert!(bot.call("project/list", json!({})).await.to_string().contains("\"Made\""));

    shows(&mut bot, &from, json!({"resource": "Threads"}), &id).await;
    let revision = bot.call("thread/read", json!({"threadId": other})).await["thread"]["revision"].clone();
    let rename = json!({
        "operation": "Rename", "operationId": "o2", "threadId": other, "title": "Named", "expectedRevision": revision,
    });
    applied(&mut bot, &from, THREADS, rename).await;

    shows(&mut bot, &from, json!({"resource": "Thread", "threadId": other}), "branchId").await;
    let rename = json!({
        "operation": "RenameBranch", "operationId": "o3", "threadId": other, "branchId": other, "title": "Trunk",
    });
    applied(&mut bot, &from, THREADS, rename).await;
    let thread = bot.call("thread/read", json!({"threadId": other})).await["thread"].clone();
    assert_eq!((&thread["title"], &thread["branches"][0]["title"]), (&json!("Named"), &json!("Trunk")));

    shows(&mut bot, &from, json!({"resource": "Messages", "threadId": other}), "heard").await;
    let remark = json!({"operation": "Submit", "operationId": "o4", "threadId": other, "mode": "Aside", "text": "noted"});
    applied(&mut bot, &from, RUNS, remark).await;
    assert_eq!(bot.chain(&other).await.last().unwrap()["content"][0]["text"], "noted");

    bot.submit(&other, "sleep 600000").await;
    bot.submit(&other, "say waiting").await;
    shows(&mut bot, &from, json!({"resource": "Runs", "threadId": other}), "say waiting").await;
    applied(&mut bot, &from, RUNS, json!({"operation": "ClearQueue", "operationId": "o5", "threadId": other})).await;
    assert_eq!(bot.call("queue/list", json!({"threadId": other})).await["entries"], json!([]));
    bot.call("run/stop", json!({"threadId": other})).await;

    shows(&mut bot, &from, json!({"resource": "Settings"}), "toolCeilingMs").await;
    let revision = bot.call("settings/read", json!({})).await["settings"]["revision"].clone();
    let save = json!({
        "operation": "SaveGlobalSettings", "operationId": "o6", "settings": {"toolCeilingMs": 700_000},
        "expectedRevision": revision,
    });
    agreed(&mut bot, &from, SECURITY, save).await;
    assert_eq!(bot.call("settings/read", json!({})).await["settings"]["toolCeilingMs"], 700_000);

    let project = bot.project_of(&from).await;
    let grant = json!({"projectId": project, "path": std::env::temp_dir(), "capabilities": ["read"]});
    let grant = bot.call("grant/add", grant).await["grant"]["grantId"].clone();
    shows(&mut bot, &from, json!({"resource": "Project"}), grant.as_str().unwrap()).await;
    let taken = json!({
        "operation": "RemoveDirectoryGrant", "operationId": "o7", "grantId": grant,
        "expectedRevision": revision_of(&mut bot, &project).await,
    });
    applied(&mut bot, &from, SECURITY, taken).await;
    assert_eq!(bot.call("grant/list", json!({"projectId": project})).await["items"], json!([]));

    shows(&mut bot, &from, json!({"resource": "Settings"}), "app_security").await;
    let deny = json!({"operation": "SetGlobalToolPolicy", "operationId": "o8", "source": "files", "decision": "deny"});
    applied(&mut bot, &from, SECURITY, deny).await;
    let rules = bot.call("policy/list", json!({"source": "files"})).await;
    assert_eq!(rules["items"][0]["decision"], "deny", "{rules}");
}
