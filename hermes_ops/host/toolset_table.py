"""The toolsets of the host by name, for where the host itself cannot be asked.

Read from the host named in HOST; a test holds the table to the host that is installed.
"""

from __future__ import annotations

HOST = "0.19.0 (2026-07-20)"

# name -> the tools it gives by itself
TOOLS = {
    "web": "web_search web_extract",
    "search": "web_search",
    "x_search": "x_search",
    "vision": "vision_analyze",
    "video": "video_analyze",
    "image_gen": "image_generate",
    "video_gen": "video_generate xai_video_edit xai_video_extend",
    "computer_use": "computer_use",
    "terminal": "terminal process",
    "skills": "skills_list skill_view skill_manage",
    "browser": """
        browser_navigate browser_snapshot browser_click browser_type browser_scroll browser_back browser_press
        browser_get_images browser_vision browser_console browser_cdp browser_dialog web_search
    """,
    "cronjob": "cronjob",
    "file": "read_file write_file patch search_files",
    "tts": "text_to_speech",
    "todo": "todo",
    "memory": "memory",
    "context_engine": "",
    "session_search": "session_search",
    "project": "project_list project_create project_switch",
    "clarify": "clarify",
    "code_execution": "execute_code",
    "delegation": "delegate_task",
    "homeassistant": "ha_list_entities ha_get_state ha_list_services ha_call_service",
    "kanban": """
        kanban_show kanban_list kanban_complete kanban_block kanban_heartbeat kanban_comment kanban_create
        kanban_link kanban_unblock kanban_attach kanban_attach_url kanban_attachments
    """,
    "discord": "discord",
    "discord_admin": "discord_admin",
    "yuanbao": "yb_query_group_info yb_query_group_members yb_send_dm yb_search_sticker yb_send_sticker",
    "feishu_doc": "feishu_doc_read",
    "feishu_drive": """
        feishu_drive_list_comments feishu_drive_list_comment_replies feishu_drive_reply_comment
        feishu_drive_add_comment
    """,
    "spotify": """
        spotify_playback spotify_devices spotify_queue spotify_search spotify_playlists spotify_albums
        spotify_library
    """,
    "debugging": "terminal process",
    "safe": "",
    "hermes-webhook": "web_search web_extract vision_analyze clarify",
}

# name -> toolsets it is made of, beside its own tools
INCLUDES = {
    "debugging": "web file",
    "safe": "web vision image_gen",
    "coding": """
        web terminal file vision skills browser todo memory session_search clarify code_execution delegation
        +read_terminal +close_terminal
    """,
    "hermes-acp": """
        web terminal file vision skills browser todo memory session_search code_execution delegation
    """,
    "hermes-api-server": """
        web terminal file vision image_gen skills browser todo memory session_search code_execution delegation
        cronjob homeassistant
    """,
    "hermes-cli": """
        web terminal file vision image_gen skills browser tts todo memory session_search clarify
        code_execution delegation cronjob homeassistant kanban computer_use +read_terminal +close_terminal
    """,
    "hermes-discord": "hermes-cli discord discord_admin",
    "hermes-feishu": "hermes-cli feishu_doc feishu_drive",
    "hermes-yuanbao": "hermes-cli yuanbao",
    "hermes-gateway": "hermes-cli hermes-discord hermes-feishu hermes-yuanbao hermes-webhook",
}
# the platforms whose toolset is that of the command line
_LIKE_COMMAND_LINE = """
    cron telegram whatsapp slack signal bluebubbles homeassistant email mattermost matrix dingtalk
    weixin qqbot wecom wecom-callback sms
"""
for _platform in _LIKE_COMMAND_LINE.split():
    INCLUDES[f"hermes-{_platform}"] = "hermes-cli"

# names of older versions that the host still takes
LEGACY = {
    "web_tools": "web_search web_extract",
    "terminal_tools": "terminal",
    "vision_tools": "vision_analyze",
    "image_tools": "image_generate",
    "skills_tools": "skills_list skill_view skill_manage",
    "browser_tools": """
        browser_navigate browser_snapshot browser_click browser_type browser_scroll browser_back browser_press
        browser_get_images browser_vision browser_console
    """,
    "cronjob_tools": "cronjob",
    "file_tools": "read_file write_file patch search_files",
    "tts_tools": "text_to_speech",
}

EVERYTHING = frozenset({"all", "*"})
# taken from every scheduled agent, whatever its list says
NEVER_IN_CRON = ("cronjob", "messaging", "clarify")
# what scheduled agents get where neither the job nor the config names toolsets
_CRON = """
    browser clarify code_execution computer_use cronjob delegation file image_gen kanban memory
    session_search skills terminal todo tts vision web
"""
CRON_DEFAULT = tuple(_CRON.split())
