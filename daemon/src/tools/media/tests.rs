//! Images of every kind, images that say they are another, and things that are no images.

use super::*;

fn refused(media_type: &str, bytes: &[u8]) -> (&'static str, &'static str) {
    match check_image(media_type, &STANDARD.encode(bytes)).unwrap_err() {
        MediaProblem::Field { field, reason, .. } => (field, reason),
        MediaProblem::TooLarge { .. } => panic!("it is small"),
    }
}

#[test]
fn an_image_is_what_its_bytes_begin_with() {
    let images: [(&str, &[u8]); 5] = [
        ("image/png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        ("image/jpeg", b"\xff\xd8\xff\xe0\0\x10JFIF"),
        ("image/gif", b"GIF89a\x01\0"),
        ("image/gif", b"GIF87a\x01\0"),
        ("image/webp", b"RIFF\x1a\0\0\0WEBPVP8L"),
    ];
    for (media_type, bytes) in images {
        assert_eq!(check_image(media_type, &STANDARD.encode(bytes)), Ok(()), "{media_type}");
        for (other, _) in images.iter().filter(|(other, _)| *other != media_type) {
            assert_eq!(refused(other, bytes), ("mediaType", "another_image_type"), "{media_type} said to be {other}");
        }
    }
    for bytes in [&b"<svg/>"[..], b"BM6\0", b"RIFF\x1a\0\0\0WAVE", b"\x89PNG", b"%PDF-1.7"] {
        assert_eq!(refused("image/png", bytes), ("data", "not_an_image"), "{bytes:?}");
    }
}

#[test]
fn a_media_type_no_provider_takes_is_refused_with_those_they_take() {
    for media_type in
        ["image/jpg", "image/svg+xml", "image/bmp", "IMAGE/PNG", "image/png; q=1", "text/html", "", "image/"]
    {
        let problem = check_image(media_type, "AAAA").unwrap_err();
        let MediaProblem::Field { field, words, .. } = problem else { panic!("{problem:?}") };
        assert_eq!(
            (field, words.as_str()),
            ("mediaType", "must be one of image/png, image/jpeg, image/gif, image/webp")
        );
    }
}

#[test]
fn base64_is_whole_and_has_one_spelling() {
    let good = STANDARD.encode(b"GIF89a!");
    assert_eq!(check_image("image/gif", &good), Ok(()));
    let spaced = format!("{good}\n");
    let unpadded = good.trim_end_matches('=').to_owned();
    let loose = format!("{}B=", &unpadded[..unpadded.len() - 1]);
    for data in ["data:image/gif;base64,AAAA", "R0lG ODlh", "_-_-", &spaced, &unpadded, &loose] {
        let problem = check_image("image/gif", data).unwrap_err();
        assert!(
            matches!(problem, MediaProblem::Field { field: "data", reason: "not_base64", .. }),
            "{data}: {problem:?}"
        );
    }
    assert!(matches!(check_image("image/gif", ""), Err(MediaProblem::Field { reason: "empty", .. })));
}

#[test]
fn size_counts_decoded_bytes() {
    let of = |bytes: usize| {
        let mut image = b"GIF89a".to_vec();
        image.resize(bytes, 0);
        check_image("image/gif", &STANDARD.encode(image))
    };
    assert_eq!(of(5_242_880), Ok(()));
    assert_eq!(of(5_242_881), Err(MediaProblem::TooLarge { actual: 5_242_881 }));
    assert_eq!(check_audio("audio/wav", &STANDARD.encode(b"RIFF")), Ok(()));
    assert!(check_audio("image/png", "AAAA").is_err() && check_audio("audio/", "AAAA").is_err());
}
